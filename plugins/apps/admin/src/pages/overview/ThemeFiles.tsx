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
import type { ArchiveResult, SiteOverview, ThemeChoice } from '../../../../shared/admin-api';
import { useAppsCreateLinkMutation, useAppsDeleteLinkMutation, useAppsImportArchiveMutation } from '../../api/archives';
import { address, useAction } from '../../api/base';
import { useText } from '../../plugin';
import { saveFile } from '../../save-file';
import { ArchiveReport } from './ArchiveReport';

interface Props {
  site: SiteOverview;
  themes: ThemeChoice[];
}

/** The files of a site's active theme: out and in as ZIP, and links to apps of other themes. */
export function ThemeFiles({ site, themes }: Props) {
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
  const ask = async (file: File, options: { write: boolean; replace: boolean; tests?: boolean }) => {
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
    setChecked((await ask(chosen, { write: false, replace: false })) ?? null);
  };
  const test = async () => {
    const tested = file && (await ask(file, { write: false, replace: false, tests: true }));
    if (tested) setChecked(tested);
  };
  const write = async () => {
    if (!file || !checked) return;
    const done = await ask(file, { write: true, replace: checked.state === 'taken' });
    if (done?.state === 'written') await act(async () => true, text('archive.written', { id: done.id ?? '' }));
    setChecked(null);
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
function LinkButton({ site, themes }: Props) {
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
