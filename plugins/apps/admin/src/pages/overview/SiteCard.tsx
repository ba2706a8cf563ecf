import { Box, Button, Field, Flex, Link, SingleSelect, SingleSelectOption, Typography } from '@strapi/design-system';
import type { SiteOverview, ThemeChoice } from '../../../../shared/admin-api';
import { useAction } from '../../api/base';
import { useAppsHandOverMutation, useAppsSetThemeMutation } from '../../api/sites';
import { ProblemNote } from '../../components/ProblemNote';
import { useMay } from '../../permissions';
import { useText } from '../../plugin';
import { AppsTable } from './AppsTable';

interface Props {
  site: SiteOverview;
  themes: ThemeChoice[];
}

/** One site: its active theme, which can be changed, and its apps. */
export function SiteCard({ site, themes }: Props) {
  const text = useText();
  const may = useMay();
  const [setTheme] = useAppsSetThemeMutation();
  const [handOver] = useAppsHandOverMutation();
  const act = useAction();
  const choose = (theme: string) =>
    act(() => setTheme({ site: site.id, theme }).unwrap(), text('theme.changed', { theme }));
  const viewAsMe = async () => {
    // Opened at once: browsers block a tab that is opened later than the click.
    const tab = window.open('', '_blank');
    if (tab) tab.opener = null;
    const given = await act(() => handOver({ site: site.id }).unwrap());
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
          {may('manage') && (
            <Button variant="tertiary" onClick={viewAsMe}>
              {text('site.as-me')}
            </Button>
          )}
        </Flex>
        <Field.Root hint={text('theme.hint')} maxWidth="32rem" width="100%">
          <Field.Label>{text('theme')}</Field.Label>
          <SingleSelect value={site.theme} disabled={!may('manage')} onChange={(theme) => choose(String(theme))}>
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
