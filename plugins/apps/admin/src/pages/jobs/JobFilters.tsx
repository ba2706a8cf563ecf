import { Field, Flex, SingleSelect, SingleSelectOption } from '@strapi/design-system';
import { jobKinds } from '../../../../shared/admin-api';
import { useAppsOverviewQuery } from '../../api/sites';
import { useText } from '../../plugin';
import type { Shown } from './lists';

/** Stands for no filter. */
const ALL = 'all';

const textOf = (site: string, app: string) => JSON.stringify([site, app]);

/** Chooses the app, and the kind, whose jobs are shown. */
export function JobFilters({ shown, onChange }: { shown: Shown; onChange(changed: Partial<Shown>): void }) {
  const text = useText();
  const { data } = useAppsOverviewQuery();
  const { site, app, kind, list } = shown;
  const apps = (data?.sites ?? []).flatMap((one) => one.apps.map(({ id }) => ({ site: one.id, app: id })));
  const chosen = site !== null && app !== null ? { site, app } : null;
  // An app that is gone may have left jobs.
  const isKnown = !chosen || apps.some((one) => one.site === chosen.site && one.app === chosen.app);
  const choices = isKnown ? apps : [chosen, ...apps];
  const chooseApp = (value: string) => {
    const [toSite, toApp] = value === ALL ? [null, null] : (JSON.parse(value) as [string, string]);
    onChange({ site: toSite, app: toApp });
  };
  return (
    <Flex gap={4} wrap="wrap" alignItems="flex-end">
      <Field.Root name="app">
        <Field.Label>{text('app')}</Field.Label>
        <SingleSelect
          value={chosen ? textOf(chosen.site, chosen.app) : ALL}
          onChange={(value) => chooseApp(String(value))}
        >
          <SingleSelectOption value={ALL}>{text('job.app.all')}</SingleSelectOption>
          {choices.map((one) => (
            <SingleSelectOption key={textOf(one.site, one.app)} value={textOf(one.site, one.app)}>
              {`${one.site} / ${one.app}`}
            </SingleSelectOption>
          ))}
        </SingleSelect>
      </Field.Root>
      {list !== 'deliveries' && (
        <Field.Root name="kind">
          <Field.Label>{text('job.kind')}</Field.Label>
          <SingleSelect
            value={kind ?? ALL}
            onChange={(value) => onChange({ kind: jobKinds.find((one) => one === value) ?? null })}
          >
            <SingleSelectOption value={ALL}>{text('job.kind.all')}</SingleSelectOption>
            {jobKinds.map((one) => (
              <SingleSelectOption key={one} value={one}>
                {text(`job.kind.${one}`)}
              </SingleSelectOption>
            ))}
          </SingleSelect>
        </Field.Root>
      )}
    </Flex>
  );
}
