import { Box, Button, Flex, Link, Typography } from '@strapi/design-system';
import type { SiteOverview, ThemeChoice as Theme } from '../../../../shared/admin-api';
import { useAction } from '../../api/base';
import { useAppsHandOverMutation } from '../../api/sites';
import { ProblemNote } from '../../components/ProblemNote';
import { useMay } from '../../permissions';
import { useText } from '../../plugin';
import { AppsTable } from './AppsTable';
import { NewApp } from './NewApp';
import { ThemeChoice } from './ThemeChoice';
import { ThemeFiles } from './ThemeFiles';

interface Props {
  site: SiteOverview;
  themes: Theme[];
  /** Whether files can be changed. */
  editing: boolean;
}

/** One site: its active theme, which can be changed, and its apps. */
export function SiteCard({ site, themes, editing }: Props) {
  const text = useText();
  const may = useMay();
  const [handOver] = useAppsHandOverMutation();
  const act = useAction();
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
        <ThemeChoice site={site} themes={themes} />
      </Flex>
      {site.problems.length > 0 && (
        <Box paddingBottom={4}>
          {site.problems.map((problem) => (
            <ProblemNote key={`${problem.file}:${problem.line} ${problem.message}`} problem={problem} />
          ))}
        </Box>
      )}
      <AppsTable site={site} />
      {editing && may(['develop']) && (
        <Box paddingTop={4}>
          <NewApp site={site} />
        </Box>
      )}
      {may('manage') && <ThemeFiles site={site} themes={themes} />}
    </Box>
  );
}
