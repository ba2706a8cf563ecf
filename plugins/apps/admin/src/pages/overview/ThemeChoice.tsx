import { Button, Field, Flex, Modal, SingleSelect, SingleSelectOption, Typography } from '@strapi/design-system';
import { lazy, Suspense, useState } from 'react';
import type { SiteOverview, ThemeChoice as Theme } from '../../../../shared/admin-api';
import { useAppsSetThemeMutation } from '../../api/apps';
import { useAction } from '../../api/base';
import { useMay } from '../../permissions';
import { useText } from '../../plugin';

const ThemePreview = lazy(() => import('./ThemePreview'));

/** The active theme of a site; another one is used after a question that says what changes. */
export function ThemeChoice({ site, themes }: { site: SiteOverview; themes: Theme[] }) {
  const text = useText();
  const may = useMay();
  const act = useAction();
  const [setTheme] = useAppsSetThemeMutation();
  const [wanted, setWanted] = useState<Theme | null>(null);
  const change = async () => {
    if (!wanted) return;
    const theme = wanted.id;
    await act(() => setTheme({ site: site.id, theme }).unwrap(), text('theme.changed', { theme }));
    setWanted(null);
  };
  return (
    <>
      <Field.Root hint={text('theme.hint')} maxWidth="32rem" width="100%">
        <Field.Label>{text('theme')}</Field.Label>
        <SingleSelect
          value={site.theme}
          disabled={!may('manage')}
          onChange={(id) => setWanted(themes.find((theme) => theme.id === id && id !== site.theme) ?? null)}
        >
          {themes.map(({ id, title }) => (
            <SingleSelectOption key={id} value={id}>
              {title || id}
            </SingleSelectOption>
          ))}
        </SingleSelect>
        <Field.Hint />
      </Field.Root>
      <Modal.Root open={wanted !== null} onOpenChange={(open: boolean) => !open && setWanted(null)}>
        <Modal.Content aria-describedby={undefined}>
          <Modal.Header>
            <Modal.Title>{text('theme.preview', { theme: wanted?.title || wanted?.id || '' })}</Modal.Title>
          </Modal.Header>
          <Modal.Body>
            {wanted && (
              <Flex direction="column" alignItems="stretch" gap={4}>
                <Changes site={site} theme={wanted} />
                <Suspense fallback={null}>
                  <ThemePreview site={site.id} theme={wanted.id} />
                </Suspense>
              </Flex>
            )}
          </Modal.Body>
          <Modal.Footer>
            <Modal.Close>
              <Button variant="tertiary">{text('cancel')}</Button>
            </Modal.Close>
            <Button onClick={change}>{text('theme.use')}</Button>
          </Modal.Footer>
        </Modal.Content>
      </Modal.Root>
    </>
  );
}

/** What another theme changes: the apps that it adds and removes. */
function Changes({ site, theme }: { site: SiteOverview; theme: Theme }) {
  const text = useText();
  const now = site.apps.map(({ id }) => id);
  const come = theme.apps.filter((id) => !now.includes(id));
  const go = site.apps.filter(({ id }) => !theme.apps.includes(id));
  return (
    <Flex direction="column" alignItems="flex-start" gap={2}>
      <Typography>{text('theme.confirm', { theme: theme.title || theme.id, site: site.title })}</Typography>
      {theme.description && <Typography textColor="neutral600">{theme.description}</Typography>}
      {come.length > 0 && <Typography>{text('theme.come', { apps: come.join(', ') })}</Typography>}
      {go.length > 0 && (
        <Typography textColor="danger600">
          {text('theme.go', { apps: go.map(({ id, records }) => `${id} (${records})`).join(', ') })}
        </Typography>
      )}
    </Flex>
  );
}
