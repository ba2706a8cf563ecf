import {
  Box,
  Button,
  Dialog,
  Field,
  Flex,
  MenuItem,
  SimpleMenu,
  SingleSelect,
  SingleSelectOption,
  Typography,
} from '@strapi/design-system';
import { Download, Link as LinkIcon } from '@strapi/icons';
import { ConfirmDialog, useFetchClient } from '@strapi/strapi/admin';
import { type ChangeEvent, useId, useState } from 'react';
import type { ArchiveResult, ArchiveTests, SiteOverview, ThemeChoice } from '../../../../shared/admin-api';
import { useAppsCreateLinkMutation, useAppsDeleteLinkMutation, useAppsImportArchiveMutation } from '../../api/apps';
import { address, useAction } from '../../api/base';
import { Pre, ProblemNote } from '../../components/page';
import { saveFile } from '../../json-files';
import { useText } from '../../plugin';

interface ArchiveReportProps {
  result: ArchiveResult;
  /** Its tests run. */
  isTesting: boolean;
  onTest(): void;
}

/** What a checked ZIP holds, what it would change, what is wrong with it, or why it is refused. */
function ArchiveReport({ result, isTesting, onTest }: ArchiveReportProps) {
  const text = useText();
  const { problems, kind, id, files, state, differences, findings, tests } = result;
  if (problems.length > 0) {
    return (
      <Box role="alert">
        <Typography textColor="danger600">{text('archive.refused')}</Typography>
        <ul>
          {problems.map((problem) => (
            <li key={problem}>
              <Typography style={{ overflowWrap: 'anywhere' }}>{problem}</Typography>
            </li>
          ))}
        </ul>
      </Box>
    );
  }
  const values = { id: id ?? '', count: files };
  const lines = Object.entries(differences ?? {}).flatMap(([what, paths]) =>
    (paths as string[]).map((path) => `${{ added: '+', removed: '−' }[what] ?? '~'} ${path}`),
  );
  return (
    <Flex direction="column" alignItems="stretch" gap={3} width="100%">
      <Typography>{text(kind === 'theme' ? 'archive.holds.theme' : 'archive.holds.app', values)}</Typography>
      {state === 'equal' && <Typography>{text('archive.equal')}</Typography>}
      {state === 'taken' && <Typography textColor="danger600">{text('archive.taken')}</Typography>}
      {lines.length > 0 && <Pre>{lines.join('\n')}</Pre>}
      <Findings findings={findings} />
      {tests && <Tests tests={tests} isTesting={isTesting} onTest={onTest} />}
    </Flex>
  );
}

function Findings({ findings }: Pick<ArchiveResult, 'findings'>) {
  const text = useText();
  if (findings.length === 0) return <Typography>{text('archive.findings.none')}</Typography>;
  return (
    <Box maxHeight="20rem" overflow="auto" tabIndex={0} role="region" aria-label={text('code.problems')}>
      <Typography fontWeight="bold">{text('archive.findings', { count: findings.length })}</Typography>
      {findings.map((finding) => (
        <ProblemNote
          key={`${finding.app}/${finding.file}:${finding.line}:${finding.column} ${finding.message}`}
          problem={{ ...finding, file: `${finding.app}/${finding.file}` }}
          tone={finding.severity === 'error' ? 'danger600' : 'warning700'}
          {...(finding.cure && { more: finding.cure })}
        />
      ))}
    </Box>
  );
}

/** The results of its tests, or the button that runs them where they may run. */
function Tests({ tests, isTesting, onTest }: { tests: ArchiveTests; isTesting: boolean; onTest(): void }) {
  const text = useText();
  const { state, files, passed, failed, skipped, failures, message } = tests;
  const isDone = state === 'ran' || state === 'broken';
  return (
    <Flex direction="column" alignItems="stretch" gap={2} role="status">
      {isDone && (
        <Typography textColor={failed > 0 || state === 'broken' ? 'danger600' : 'success600'}>
          {text('archive.tests.done', { passed, failed, skipped })}
        </Typography>
      )}
      {message !== null && <Typography textColor="danger600">{message}</Typography>}
      {failures.length > 0 && (
        <Pre>
          {failures.map(({ app, file, title, message }) => `${app}/${file}: ${title}\n${message}`).join('\n\n')}
        </Pre>
      )}
      {!isDone && <Typography>{text(`archive.tests.${state}`, { count: files })}</Typography>}
      {state === 'ready' && (
        <Flex>
          <Button variant="secondary" loading={isTesting} onClick={onTest}>
            {text('archive.tests.run')}
          </Button>
        </Flex>
      )}
    </Flex>
  );
}

interface ThemeFilesProps {
  site: SiteOverview;
  themes: ThemeChoice[];
}

/** The files of a site's active theme: out and in as ZIP, and links to apps of other themes. */
export function ThemeFiles({ site, themes }: ThemeFilesProps) {
  return (
    <Flex gap={2} wrap="wrap" paddingTop={4}>
      <ExportButton site={site} />
      <ImportButton site={site} />
      <LinkButton site={site} themes={themes} />
    </Flex>
  );
}

function ExportButton({ site }: { site: SiteOverview }) {
  const text = useText();
  const act = useAction();
  const { get } = useFetchClient();
  const save = (app?: string) =>
    act(async () => {
      const params = app === undefined ? {} : { app };
      const { data } = await get(address('exportArchive', { theme: site.theme }), { params, responseType: 'blob' });
      saveFile(data, `${app ?? site.theme}.zip`);
    });
  return (
    <SimpleMenu label={text('archive.export')} startIcon={<Download />} variant="tertiary">
      <MenuItem onSelect={() => save()}>{text('archive.theme', { theme: site.theme })}</MenuItem>
      {site.apps
        .filter(({ theme }) => theme === site.theme)
        .map(({ id }) => (
          <MenuItem key={id} onSelect={() => save(id)}>
            {id}
          </MenuItem>
        ))}
    </SimpleMenu>
  );
}

/** A ZIP is checked when it is chosen; what it would change is shown before it is written. */
function ImportButton({ site }: { site: SiteOverview }) {
  const text = useText();
  const act = useAction();
  const input = useId();
  const [send, { isLoading }] = useAppsImportArchiveMutation();
  const [file, setFile] = useState<File | null>(null);
  const [checked, setChecked] = useState<ArchiveResult | null>(null);
  const ask = async (file: File, options: { write: boolean; replace: string | null; tests?: boolean }) => {
    const ofApp = await act(() => send({ file, theme: site.theme, ...options }).unwrap());
    // A theme is refused where a theme is named that gets an app.
    const isTheme = ofApp?.problems.length === 1 && ofApp.problems[0]?.startsWith('The ZIP holds a theme');
    return isTheme ? act(() => send({ file, ...options }).unwrap()) : ofApp;
  };
  const choose = async ({ target }: ChangeEvent<HTMLInputElement>) => {
    const [chosen] = target.files ?? [];
    target.value = '';
    if (!chosen) return;
    setFile(chosen);
    setChecked((await ask(chosen, { write: false, replace: null })) ?? null);
  };
  const test = async () => {
    const tested = file && (await ask(file, { write: false, replace: null, tests: true }));
    if (tested) setChecked(tested);
  };
  const write = async () => {
    if (!file || !checked) return;
    const done = await ask(file, { write: true, replace: checked.revision });
    if (done?.state === 'written') await act(async () => true, text('archive.written', { id: done.id ?? '' }));
    const { findings, tests } = checked;
    // What has kept it from being written is shown, with what the check has found.
    setChecked(done && done.state !== 'written' ? { ...done, findings, tests } : null);
  };
  const report = checked && <ArchiveReport result={checked} isTesting={isLoading} onTest={test} />;
  const canWrite = checked?.state === 'checked' || checked?.state === 'taken';
  return (
    <>
      <Button variant="tertiary" onClick={() => document.getElementById(input)?.click()}>
        {text('archive.import')}
      </Button>
      <input id={input} type="file" accept=".zip" hidden aria-label={text('archive.import')} onChange={choose} />
      <Dialog.Root open={checked !== null} onOpenChange={(open: boolean) => !open && setChecked(null)}>
        {canWrite ? (
          <ConfirmDialog onConfirm={write} variant={checked.state === 'taken' ? 'danger' : 'default'}>
            {report}
          </ConfirmDialog>
        ) : (
          <Dialog.Content>
            <Dialog.Header>{text('archive.import')}</Dialog.Header>
            <Dialog.Body>{report}</Dialog.Body>
            <Dialog.Footer>
              <Dialog.Cancel>
                <Button variant="tertiary">{text('close')}</Button>
              </Dialog.Cancel>
            </Dialog.Footer>
          </Dialog.Content>
        )}
      </Dialog.Root>
    </>
  );
}

/** Makes and removes links to apps of other themes. */
function LinkButton({ site, themes }: ThemeFilesProps) {
  const text = useText();
  const act = useAction();
  const [createLink] = useAppsCreateLinkMutation();
  const [deleteLink] = useAppsDeleteLinkMutation();
  const [chosen, setChosen] = useState('');
  const own = new Set(site.apps.map(({ id }) => id));
  const linked = site.apps.filter(({ theme }) => theme !== site.theme);
  const offers = themes
    .filter(({ id }) => id !== site.theme)
    .flatMap(({ id, apps }) => apps.filter((app) => !own.has(app)).map((app) => `${id}/${app}`));
  const create = async () => {
    const [theme = '', app = ''] = chosen.split('/');
    await act(() => createLink({ into: site.theme, theme, app }).unwrap(), text('link.made', { app }));
    setChosen('');
  };
  return (
    <Dialog.Root>
      <Dialog.Trigger>
        <Button variant="tertiary" startIcon={<LinkIcon />}>
          {text('links')}
        </Button>
      </Dialog.Trigger>
      <Dialog.Content>
        <Dialog.Header>{text('links')}</Dialog.Header>
        <Dialog.Body>
          <Flex direction="column" alignItems="stretch" gap={4} width="100%">
            {linked.map(({ id, theme }) => (
              <Flex key={id} justifyContent="space-between" gap={2}>
                <Typography>{`${id} → ${theme}`}</Typography>
                <Button
                  variant="danger-light"
                  onClick={() =>
                    act(() => deleteLink({ from: site.theme, app: id }).unwrap(), text('link.removed', { app: id }))
                  }
                >
                  {text('link.remove', { app: id })}
                </Button>
              </Flex>
            ))}
            <Field.Root hint={text('link.hint')}>
              <Field.Label>{text('link.app')}</Field.Label>
              <SingleSelect value={chosen || null} onChange={(value) => setChosen(String(value))}>
                {offers.map((offer) => (
                  <SingleSelectOption key={offer} value={offer}>
                    {offer}
                  </SingleSelectOption>
                ))}
              </SingleSelect>
              <Field.Hint />
            </Field.Root>
            <Box>
              <Button onClick={create} disabled={chosen === ''}>
                {text('link.make')}
              </Button>
            </Box>
          </Flex>
        </Dialog.Body>
        <Dialog.Footer>
          <Dialog.Cancel>
            <Button variant="tertiary">{text('close')}</Button>
          </Dialog.Cancel>
        </Dialog.Footer>
      </Dialog.Content>
    </Dialog.Root>
  );
}
