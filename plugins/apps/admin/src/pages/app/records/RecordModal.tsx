import { Alert, Box, Button, Field, Flex, Modal, Tabs, Textarea, TextInput, Typography } from '@strapi/design-system';
import { Page } from '@strapi/strapi/admin';
import { useRef, useState } from 'react';
import type { AppDetail, RecordDetail } from '../../../../../shared/admin-api';
import type { Items } from '../../../../../shared/json';
import { type PanelError, useAction, useErrorText } from '../../../api/base';
import {
  privateFile,
  type RecordFile,
  useAppsCreateRecordMutation,
  useAppsHistoryQuery,
  useAppsRecordFormQuery,
  useAppsRecordQuery,
  useAppsRevokeLinkMutation,
  useAppsSubmitFormMutation,
  useAppsUpdateRecordMutation,
  usePrivateFiles,
} from '../../../api/records';
import { ChangedMeanwhile, Pre } from '../../../components/page';
import { readObject } from '../../../json-files';
import { useText } from '../../../plugin';
import { HistoryTable } from '../HistoryTable';
import { FileLink, isFile } from './ItemValue';

/** Fields that only the site uses. */
const excluded = new Set(['_csrf']);

/** A page around the form of a block. Without a theme's styles it is plain, and readable in both modes. */
export const page = (form: string): string =>
  `<!doctype html><meta charset="utf-8"><base target="_blank"><style>
body { font: 14px/1.5 system-ui, sans-serif; color: #32324d; margin: 8px; }
label, .apps-choice { display: block; } :is([type=checkbox], [type=radio]) + label { display: inline; }
input:not([type=checkbox], [type=radio]), select, textarea { font: inherit; max-width: 100%; padding: 6px; }
[role=alert], .apps-error { color: #b72b1a; } button { font: inherit; padding: 6px 12px; }
</style>${unfocused(form)}`;

/** Attribute in place of `autofocus`, which a browser refuses in a frame without scripts. */
const FIRST = 'data-apps-first';

function unfocused(form: string): string {
  const { body } = new DOMParser().parseFromString(form, 'text/html');
  for (const field of body.querySelectorAll('[autofocus]')) {
    field.removeAttribute('autofocus');
    field.setAttribute(FIRST, '');
  }
  return body.innerHTML;
}

/** Focuses the field that the form begins with. */
const focusFirst = (page: Document): void => page.querySelector<HTMLElement>(`[${FIRST}]`)?.focus();

/** What a browser would send of a form. */
interface Sent {
  fields: Record<string, string | string[]>;
  /** New files with the names of their fields. */
  files: [field: string, file: File][];
}

/** What a browser would send: the fields of the form, its new files, and its pressed button. */
function sentBy(event: SubmitEvent): Sent {
  const form = event.target as HTMLFormElement;
  const button = event.submitter as HTMLButtonElement | null;
  const fields = new Map<string, string[]>();
  const add = (name: string, value: string) => fields.set(name, [...(fields.get(name) ?? []), value]);
  const files: Sent['files'] = [];
  for (const [name, value] of new FormData(form)) {
    if (typeof value !== 'string') {
      // A browser sends an empty file for a field in which none was chosen.
      if (value.name !== '' || value.size > 0) files.push([name, value]);
    } else if (!excluded.has(name)) add(name, value);
  }
  if (button?.name) add(button.name, button.value);
  const named = Object.fromEntries(
    [...fields].map(([name, values]) => [name, values.length === 1 ? (values[0] ?? '') : values]),
  );
  return { fields: named, files };
}

interface BlockFormProps {
  app: AppDetail;
  block: string;
  /** The record to change; without it a new one is made. */
  id?: string;
  onDone(): void;
}

/**
 * The block's own form, as the site shows it. It stands in a frame in which no script runs: it is the HTML of a theme. What
 * is sent from it goes through the panel, and is checked as on the site.
 */
function BlockForm({ app, block, id, onDone }: BlockFormProps) {
  const text = useText();
  const act = useAction();
  const textOf = useErrorText();
  const frame = useRef<HTMLIFrameElement>(null);
  const key = { site: app.site, app: app.id, block, ...(id === undefined ? {} : { id }) };
  const { data, error } = useAppsRecordFormQuery(key, { refetchOnMountOrArgChange: true });
  const [submitForm] = useAppsSubmitFormMutation();
  const { save } = usePrivateFiles();
  const [again, setAgain] = useState<string | null>(null);
  const [refused, setRefused] = useState<string | null>(null);
  const isSending = useRef(false);
  if (error) return <Typography textColor="danger600">{textOf(error)}</Typography>;
  if (!data) return <Page.Loading />;

  const submit = async (sent: Sent) => {
    // A second click would make a second record.
    if (isSending.current) return;
    isSending.current = true;
    try {
      const outcome = await submitForm({ ...key, ...sent }).unwrap();
      if (outcome.kind === 'shown') return setAgain(outcome.html);
      await act(async () => true, text(outcome.kind === 'saved' ? 'record.saved' : 'deleted'));
      onDone();
    } catch (failure) {
      const { html } = ((failure as PanelError).details ?? {}) as { html?: unknown };
      setRefused(textOf(failure));
      if (typeof html === 'string') setAgain(html);
    } finally {
      isSending.current = false;
    }
  };
  const listen = () => {
    const inside = frame.current?.contentDocument;
    inside?.addEventListener('submit', (event) => {
      event.preventDefault();
      submit(sentBy(event));
    });
    // Links of the block lead out of the panel; a private file is read with the administrator's permission.
    for (const link of inside?.links ?? []) {
      const { href, textContent } = link;
      link.target = '_blank';
      if (!privateFile(href)) continue;
      link.addEventListener('click', (event) => {
        event.preventDefault();
        save({ url: href, name: textContent ?? '' });
      });
    }
    if (inside) focusFirst(inside);
    if (frame.current && inside) frame.current.style.height = `${inside.documentElement.scrollHeight + 16}px`;
  };
  return (
    <Box paddingTop={4}>
      {refused && (
        <Box paddingBottom={4}>
          <Alert variant="danger" closeLabel={text('close')} onClose={() => setRefused(null)} title="">
            {refused}
          </Alert>
        </Box>
      )}
      <iframe
        ref={frame}
        title={text('record.new.form', { block })}
        srcDoc={page(again ?? data.html)}
        sandbox="allow-same-origin allow-forms allow-popups"
        onLoad={listen}
        style={{ width: '100%', minHeight: '24rem', border: 0, background: '#fff' }}
      />
    </Box>
  );
}

interface RecordJsonProps {
  app: AppDetail;
  /** Null: a new one. */
  record: RecordDetail | null;
  mayChange: boolean;
  onDone(): void;
}

/**
 * A record's items as JSON; what is saved are all its items. What is entered belongs to the version that was read: a newer one
 * takes its place only when the administrator says so.
 */
function RecordJson({ app, record, mayChange, onDone }: RecordJsonProps) {
  const text = useText();
  const act = useAction();
  const [createRecord] = useAppsCreateRecordMutation();
  const [updateRecord] = useAppsUpdateRecordMutation();
  const [id, setId] = useState('');
  const stored = JSON.stringify(record?.items ?? {}, null, 2);
  const version = record?.version ?? '';
  const [draft, setDraft] = useState<{ entered: string; version: string } | null>(null);
  const { entered, version: read } = draft ?? { entered: stored, version };
  const [isSaving, setSaving] = useState(false);
  const items = readObject(entered);
  const key = { site: app.site, app: app.id };
  const store = async (items: Items, version: string) => {
    if (record) await updateRecord({ ...key, id: record.id, items, version }).unwrap();
    else await createRecord({ ...key, id, items }).unwrap();
    return true;
  };
  const save = async (version: string) => {
    if (!items || isSaving) return;
    setSaving(true);
    const isStored = await act(() => store(items, version), text('record.saved'));
    setSaving(false);
    if (isStored) onDone();
  };
  return (
    <Flex direction="column" alignItems="stretch" gap={4}>
      {!record && (
        <Field.Root hint={text('record.id.hint')}>
          <Field.Label>{text('record')}</Field.Label>
          <TextInput
            value={id}
            maxLength={255}
            onChange={({ target }: { target: { value: string } }) => setId(target.value)}
          />
          <Field.Hint />
        </Field.Root>
      )}
      <Field.Root error={items ? undefined : text('options.invalid')}>
        <Field.Label>{text('items')}</Field.Label>
        {/* Not the input of JSON of the design system: it has no accessible name, and Tab does not leave it. */}
        <Textarea
          value={entered}
          onChange={({ target }) => setDraft({ entered: target.value, version: read })}
          disabled={!mayChange}
          rows={16}
          spellCheck={false}
          style={{ fontFamily: 'monospace' }}
        />
        <Field.Error />
      </Field.Root>
      {read !== version && (
        <ChangedMeanwhile
          message={text('record.conflict')}
          onMine={() => save(version)}
          onTheirs={() => setDraft(null)}
        >
          <Pre>{stored}</Pre>
        </ChangedMeanwhile>
      )}
      {mayChange && read === version && (
        <Flex>
          <Button onClick={() => save(version)} loading={isSaving} disabled={!items}>
            {text('rule.save')}
          </Button>
        </Flex>
      )}
    </Flex>
  );
}

const linkTexts = { mine: 'record.link', confirm: 'record.link.confirm' } as const;

/** The links by which the record can be opened or confirmed without an account, with a button that ends each. */
function RecordLinks({ app, record, mayChange }: { app: AppDetail; record: RecordDetail; mayChange: boolean }) {
  const text = useText();
  const act = useAction();
  const [revokeLink] = useAppsRevokeLinkMutation();
  if (record.links.length === 0) return null;
  const revoke = (link: string) =>
    act(() => revokeLink({ site: app.site, app: app.id, id: record.id, link }).unwrap(), text('record.link.revoked'));
  return (
    <Flex direction="column" alignItems="stretch" gap={2} paddingTop={4}>
      {record.links.map(({ id, purpose, madeAt }) => (
        <Flex key={id} justifyContent="space-between" gap={4}>
          <Typography>{text(linkTexts[purpose], { date: new Date(madeAt).toLocaleString() })}</Typography>
          {mayChange && (
            <Button variant="danger-light" onClick={() => revoke(id)}>
              {text('record.link.revoke')}
            </Button>
          )}
        </Flex>
      ))}
    </Flex>
  );
}

interface RecordModalProps {
  app: AppDetail;
  opened: { kind: 'record'; id: string } | { kind: 'new'; block: string | null };
  mayChange: boolean;
  onClose(): void;
}

/** A record, or a new one, in the form of its block and as JSON. */
export default function RecordModal({ app, opened, mayChange, onClose }: RecordModalProps) {
  const text = useText();
  const title = opened.kind === 'record' ? opened.id : text('record.new');
  return (
    <Modal.Root open onOpenChange={(open: boolean) => !open && onClose()}>
      <Modal.Content aria-describedby={undefined}>
        <Modal.Header>
          <Modal.Title>{title}</Modal.Title>
        </Modal.Header>
        <Modal.Body>
          {opened.kind === 'record' ? (
            <StoredRecord app={app} id={opened.id} mayChange={mayChange} onDone={onClose} />
          ) : opened.block === null ? (
            <RecordJson app={app} record={null} mayChange={mayChange} onDone={onClose} />
          ) : (
            <BlockForm app={app} block={opened.block} onDone={onClose} />
          )}
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}

/** The latest changes of one record. */
function RecordHistory({ app, id, mayChange }: { app: AppDetail; id: string; mayChange: boolean }) {
  const textOf = useErrorText();
  const asked = { site: app.site, app: app.id, id };
  const { data, error } = useAppsHistoryQuery(asked, { refetchOnMountOrArgChange: true });
  if (error) return <Typography textColor="danger600">{textOf(error)}</Typography>;
  return data ? <HistoryTable app={app} changes={data.changes} mayChange={mayChange} /> : <Page.Loading />;
}

/** The files that a value names, at any depth. */
function filesOf(value: unknown): RecordFile[] {
  if (isFile(value)) return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(filesOf) : [];
}

/** The files of a record, to look at and to save. */
function RecordFiles({ items }: { items: Items }) {
  const files = filesOf(items);
  if (files.length === 0) return null;
  return (
    <Flex tag="ul" gap={4} wrap="wrap" paddingBottom={4}>
      {files.map((file, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a record may name a file twice
        <li key={at}>
          <FileLink file={file} />
        </li>
      ))}
    </Flex>
  );
}

function StoredRecord({
  app,
  id,
  mayChange,
  onDone,
}: {
  app: AppDetail;
  id: string;
  mayChange: boolean;
  onDone(): void;
}) {
  const text = useText();
  const textOf = useErrorText();
  const { data, error } = useAppsRecordQuery({ site: app.site, app: app.id, id }, { refetchOnMountOrArgChange: true });
  const [tab, setTab] = useState<string>();
  const failed = error && <Typography textColor="danger600">{textOf(error)}</Typography>;
  // What is entered stays, also where the record is gone meanwhile.
  if (!data) return failed ?? <Page.Loading />;
  const json = <RecordJson key={id} app={app} record={data} mayChange={mayChange} onDone={onDone} />;
  const form = mayChange ? data.form : null;
  const files = <RecordFiles items={data.items} />;
  const links = <RecordLinks app={app} record={data} mayChange={mayChange} />;
  if (form === null && !app.history)
    return (
      <>
        {failed}
        {files}
        {json}
        {links}
      </>
    );
  const active = tab ?? (form === null ? 'json' : 'form');
  // What is entered in one of them stays while another one is looked at.
  const kept = (value: string) => ({
    value,
    forceMount: true as const,
    style: active === value ? undefined : { display: 'none' },
  });
  return (
    <Tabs.Root value={active} onValueChange={setTab}>
      {failed}
      <Tabs.List aria-label={id}>
        {form !== null && <Tabs.Trigger value="form">{text('record.form')}</Tabs.Trigger>}
        <Tabs.Trigger value="json">JSON</Tabs.Trigger>
        {app.history && <Tabs.Trigger value="history">{text('history')}</Tabs.Trigger>}
      </Tabs.List>
      <Box paddingTop={4}>{files}</Box>
      {form !== null && (
        <Tabs.Content {...kept('form')}>
          <BlockForm app={app} block={form} id={id} onDone={onDone} />
        </Tabs.Content>
      )}
      <Tabs.Content {...kept('json')}>
        <Box paddingTop={4}>{json}</Box>
      </Tabs.Content>
      {app.history && (
        <Tabs.Content value="history">
          <Box paddingTop={4} overflow="auto">
            <RecordHistory app={app} id={id} mayChange={mayChange} />
          </Box>
        </Tabs.Content>
      )}
      {links}
    </Tabs.Root>
  );
}
