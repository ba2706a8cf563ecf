import { Button, Field, Flex, Textarea, Typography } from '@strapi/design-system';
import { useState } from 'react';
import type { AppDetail } from '../../../../shared/admin-api';
import type { Items } from '../../../../shared/json';
import { useAppsSetOptionsMutation } from '../../api/apps';
import { useAction } from '../../api/base';
import { Pre } from '../../components/page';
import { readObject } from '../../json-files';
import { useText } from '../../plugin';

/** The options that the text is, null for empty text; undefined for what is no JSON object. */
const readOptions = (text: string): Items | null | undefined => (text.trim() === '' ? null : readObject(text));

const shown = (options: Items | null) => (options === null ? '' : JSON.stringify(options, null, 2));

/** What is entered and not saved, by app: other tabs of the app do not lose it. */
const drafts = new Map<string, string>();

/** An app's options: those of its file, and as JSON what an administrator sets for this site instead. */
export default function OptionsTab({ app }: { app: AppDetail }) {
  const text = useText();
  const act = useAction();
  const [setOptions] = useAppsSetOptionsMutation();
  const { file, override } = app.options;
  const name = `${app.site}/${app.id}`;
  const [entered, setEntered] = useState(drafts.get(name) ?? shown(override));
  const enter = (text: string) => {
    setEntered(text);
    drafts.set(name, text);
  };
  const options = readOptions(entered);
  const save = async () => {
    if (options === undefined) return;
    const saved = await act(() => setOptions({ site: app.site, app: app.id, options }).unwrap(), text('options.saved'));
    if (saved) drafts.delete(name);
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
      <Flex>
        <Button onClick={save} disabled={options === undefined || entered === shown(override)}>
          {text('options.save')}
        </Button>
      </Flex>
    </Flex>
  );
}
