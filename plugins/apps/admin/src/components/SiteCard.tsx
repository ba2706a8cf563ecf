import { Box, Button, Field, Flex, Link, SingleSelect, SingleSelectOption, Typography } from '@strapi/design-system';
import type { SiteOverview, ThemeChoice } from '../../../shared/admin-api';
import { useAction, useApi } from '../api';
import { useText } from '../plugin';
import { AppsTable } from './AppsTable';
import { ProblemNote } from './ProblemNote';

interface Props {
  site: SiteOverview;
  themes: ThemeChoice[];
  /** Called after the site was changed. */
  onChange(): void;
}

/** One site: its active theme, which can be changed, and its apps. */
export function SiteCard({ site, themes, onChange }: Props) {
  const text = useText();
  const api = useApi();
  const act = useAction();
  const setTheme = async (theme: string) => {
    if (await act(() => api.setTheme(site.id, { theme }), text('theme.changed', { theme }))) onChange();
  };
  const viewAsMe = async () => {
    // Opened at once: browsers block a tab that is opened later than the click.
    const tab = window.open('', '_blank');
    if (tab) tab.opener = null;
    const given = await act(() => api.handOver(site.id));
    if (!given) tab?.close();
    else if (tab) tab.location.href = given.url;
    else window.location.assign(given.url);
  };
  return (
    <Box tag="section" aria-label={site.title} background="neutral0" shadow="tableShadow" hasRadius padding={6}>
      <Flex justifyContent="space-between" alignItems="flex-start" gap={4} paddingBottom={4} wrap="wrap">
        <Flex direction="column" alignItems="flex-start" gap={1}>
          <Typography variant="beta" tag="h2">
            {site.title}
          </Typography>
          <Link href={site.url} isExternal>
            {site.url}
          </Link>
          <Button variant="tertiary" onClick={viewAsMe}>
            {text('site.as-me')}
          </Button>
        </Flex>
        <Field.Root hint={text('theme.hint')} width="32rem">
          <Field.Label>{text('theme')}</Field.Label>
          <SingleSelect value={site.theme} onChange={(theme) => setTheme(String(theme))}>
            {themes.map(({ id, title }) => (
              <SingleSelectOption key={id} value={id}>
                {title || id}
              </SingleSelectOption>
            ))}
          </SingleSelect>
          <Field.Hint />
        </Field.Root>
      </Flex>
      {site.problems.length > 0 && (
        <Box paddingBottom={4}>
          {site.problems.map((problem) => (
            <ProblemNote key={`${problem.file}:${problem.line} ${problem.message}`} problem={problem} />
          ))}
        </Box>
      )}
      <AppsTable site={site} />
    </Box>
  );
}
