import { Button, Field, Flex, Textarea, Typography } from '@strapi/design-system';
import { useState } from 'react';
import type { AppDetail, AppOptions } from '../../../../shared/admin-api';
import type { Items } from '../../../../shared/json';
import { useAppsSetOptionsMutation } from '../../api/apps';
import { type PanelError, useAction } from '../../api/base';
import { ChangedMeanwhile, Pre } from '../../components/page';
import { readObject } from '../../json-files';
import { useText } from '../../plugin';

/** The options that the text is, null for empty text; undefined for what is no JSON object. */
const readOptions = (text: string): Items | null | undefined => (text.trim() === '' ? null : readObject(text));

const shown = (options: Items | null) => (options === null ? '' : JSON.stringify(options, null, 2));

type Stored = Pick<AppOptions, 'override' | 'revision'>;

/** What is entered, and the revision of the options that were read before. */
interface Draft {
  entered: string;
  revision: string | null;
}

const draftOf = ({ override, revision }: Stored): Draft => ({ entered: shown(override), revision });

/** What is entered and not saved, by app: other tabs of the app do not lose it. */
const drafts = new Map<string, Draft>();

/** An app's options: those of its file, and as JSON what an administrator sets for this site instead. */
export default function OptionsTab({ app }: { app: AppDetail }) {
  const text = useText();
  const act = useAction();
  const [setOptions] = useAppsSetOptionsMutation();
  const { file, override } = app.options;
  const name = `${app.site}/${app.id}`;
  const [draft, setDraft] = useState<Draft>(drafts.get(name) ?? draftOf(app.options));
  const [theirs, setTheirs] = useState<Stored | null>(null);
  const { entered } = draft;
  const enter = (entered: string) => {
    const changed = { ...draft, entered };
    setDraft(changed);
    drafts.set(name, changed);
  };
  const show = (stored: Stored) => {
    setDraft(draftOf(stored));
    setTheirs(null);
    drafts.delete(name);
  };
  const options = readOptions(entered);
  const store = async (options: Items | null, revision: string | null) => {
    try {
      return await setOptions({ site: app.site, app: app.id, options, revision }).unwrap();
    } catch (error) {
      const { current } = ((error as PanelError).details ?? {}) as { current?: Stored };
      if (current) setTheirs(current);
      throw error;
    }
  };
  const save = async (revision: string | null) => {
    if (options === undefined) return;
    const saved = await act(() => store(options, revision), text('options.saved'));
    if (saved) show(saved);
  };
  return (
    <Flex direction="column" alignItems="stretch" gap={4}>
      <Typography variant="delta">{text('options.file')}</Typography>
      <Pre>{JSON.stringify(file, null, 2)}</Pre>
      <Field.Root error={options === undefined ? text('options.invalid') : undefined} hint={text('options.hint')}>
        <Field.Label>{text('options.override')}</Field.Label>
        <Textarea
          value={entered}
          onChange={(event) => enter(event.target.value)}
          rows={10}
          style={{ fontFamily: 'monospace' }}
        />
        <Field.Hint />
        <Field.Error />
      </Field.Root>
      {theirs ? (
        <ChangedMeanwhile
          message={text('options.conflict')}
          onMine={() => save(theirs.revision)}
          onTheirs={() => show(theirs)}
        >
          <Pre>{shown(theirs.override)}</Pre>
        </ChangedMeanwhile>
      ) : (
        <Flex>
          <Button onClick={() => save(draft.revision)} disabled={options === undefined || entered === shown(override)}>
            {text('options.save')}
          </Button>
        </Flex>
      )}
    </Flex>
  );
}
