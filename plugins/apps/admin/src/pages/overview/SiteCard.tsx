import {
  Box,
  Button,
  Field,
  Flex,
  Link,
  Modal,
  SingleSelect,
  SingleSelectOption,
  Status,
  Typography,
} from '@strapi/design-system';
import { Plus } from '@strapi/icons';
import { type FormEvent, useState } from 'react';
import { NavLink, useNavigate } from 'react-router-dom';
import type { SiteOverview, ThemeChoice as Theme } from '../../../../shared/admin-api';
import { useAppsHandOverMutation } from '../../api/apps';
import { useAction, useErrorText } from '../../api/base';
import { useAppsAppTemplatesQuery, useAppsCreateAppMutation } from '../../api/code';
import { DataTable } from '../../components/DataTable';
import { ProblemNote } from '../../components/page';
import { useMay } from '../../permissions';
import { useText } from '../../plugin';
import { appPath } from '../app/tabs';
import { DeadJobs } from '../jobs/DeadJobs';
import { ThemeChoice } from './ThemeChoice';
import { ThemeFiles } from './ThemeFiles';

/** The apps of a site, each with a link to its page. */
function AppsTable({ site }: { site: SiteOverview }) {
  const text = useText();
  const may = useMay();
  return (
    <DataTable
      label={text('title')}
      empty={text('apps.none')}
      rows={[...site.apps].sort((a, b) => b.problems - a.problems)}
      rowKey={(app) => app.id}
      columns={[
        {
          title: text('app'),
          cell: (app) => (
            <>
              <Link tag={NavLink} to={appPath(site.id, app.id, '')}>
                {app.id}
              </Link>
              {app.theme !== site.theme && (
                <Typography variant="pi" textColor="neutral600" tag="p">
                  {text('app.theme', { theme: app.theme })}
                </Typography>
              )}
            </>
          ),
        },
        { title: text('blocks'), cell: (app) => app.blocks },
        { title: text('records'), cell: (app) => app.records },
        {
          title: text('state'),
          cell: (app) => (
            <>
              <Status variant={app.problems > 0 ? 'danger' : 'success'} size="S" width="max-content">
                <Typography variant="omega">
                  {app.problems > 0 ? text('state.problems', { count: app.problems }) : text('state.fine')}
                </Typography>
              </Status>
              {app.failedRuns > 0 && may(['develop']) && (
                <Box paddingTop={1}>
                  <Link tag={NavLink} to={`${appPath(site.id, app.id, 'runs')}?state=failed`}>
                    {text('runs.failed', { count: app.failedRuns })}
                  </Link>
                </Box>
              )}
              {app.deadJobs > 0 && (
                <Box paddingTop={1}>
                  <DeadJobs site={site.id} app={app.id} count={app.deadJobs} />
                </Box>
              )}
            </>
          ),
        },
      ]}
    />
  );
}

/** The choice of no template: the name of no folder. */
const NONE = '/';

/** A button that makes an app in the site's theme, and opens its files. */
function NewApp({ site }: { site: SiteOverview }) {
  const text = useText();
  const [isOpen, setOpen] = useState(false);
  return (
    <Modal.Root open={isOpen} onOpenChange={setOpen}>
      <Modal.Trigger>
        <Button variant="secondary" startIcon={<Plus />}>
          {text('app.new')}
        </Button>
      </Modal.Trigger>
      <Modal.Content>
        <Modal.Header>
          <Modal.Title>{text('app.new')}</Modal.Title>
        </Modal.Header>
        <NewAppForm site={site} />
      </Modal.Content>
    </Modal.Root>
  );
}

/** The server's errors are shown at the id, which they are about. */
function NewAppForm({ site }: { site: SiteOverview }) {
  const text = useText();
  const textOf = useErrorText();
  const navigate = useNavigate();
  const [app, setApp] = useState('');
  const [template, setTemplate] = useState(NONE);
  const { data: templates = [] } = useAppsAppTemplatesQuery();
  const [create, { error, isLoading, reset }] = useAppsCreateAppMutation();
  const change = (entered: string) => {
    reset();
    setApp(entered);
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const made = await create({ site: site.id, app, template: template === NONE ? null : template });
    if ('data' in made) navigate(appPath(site.id, app, 'code'));
  };
  return (
    <form onSubmit={submit} noValidate>
      <Modal.Body>
        <Flex direction="column" alignItems="stretch" gap={4}>
          <Field.Root name="app" required hint={text('app.new.id.hint')} error={textOf(error) ?? undefined}>
            <Field.Label>{text('app.new.id')}</Field.Label>
            <Field.Input value={app} onChange={({ target }) => change(target.value)} maxLength={80} />
            <Field.Hint />
            <Field.Error />
          </Field.Root>
          <Field.Root name="template">
            <Field.Label>{text('app.new.template')}</Field.Label>
            <SingleSelect value={template} onChange={(chosen) => setTemplate(String(chosen))}>
              <SingleSelectOption value={NONE}>{text('app.new.template.none')}</SingleSelectOption>
              {templates.map((name) => (
                <SingleSelectOption key={name} value={name}>
                  {name}
                </SingleSelectOption>
              ))}
            </SingleSelect>
          </Field.Root>
        </Flex>
      </Modal.Body>
      <Modal.Footer>
        <Modal.Close>
          <Button variant="tertiary">{text('close')}</Button>
        </Modal.Close>
        <Button type="submit" loading={isLoading} disabled={app === ''}>
          {text('app.new.make')}
        </Button>
      </Modal.Footer>
    </form>
  );
}

interface SiteCardProps {
  site: SiteOverview;
  themes: Theme[];
  /** Whether files can be changed. */
  editing: boolean;
}

/** One site: its active theme, which can be changed, and its apps. */
export function SiteCard({ site, themes, editing }: SiteCardProps) {
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
