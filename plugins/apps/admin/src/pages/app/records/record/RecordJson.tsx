import { Button, Field, Flex, Textarea, TextInput } from '@strapi/design-system';
import { useState } from 'react';
import type { AppDetail, RecordDetail } from '../../../../../../shared/admin-api';
import type { Items } from '../../../../../../shared/json';
import { useAction } from '../../../../api/base';
import { useAppsCreateRecordMutation, useAppsUpdateRecordMutation } from '../../../../api/records';
import { useText } from '../../../../plugin';
import { readObject } from '../../../../read-object';

interface Props {
  app: AppDetail;
  /** Null: a new one. */
  record: RecordDetail | null;
  mayChange: boolean;
  onDone(): void;
}

/** A record's items as JSON; what is saved are all its items. */
export function RecordJson({ app, record, mayChange, onDone }: Props) {
  const text = useText();
  const act = useAction();
  const [createRecord] = useAppsCreateRecordMutation();
  const [updateRecord] = useAppsUpdateRecordMutation();
  const [id, setId] = useState('');
  const [entered, setEntered] = useState(() => JSON.stringify(record?.items ?? {}, null, 2));
  const items = readObject(entered);
  const key = { site: app.site, app: app.id };
  const store = async (items: Items) => {
    if (record) await updateRecord({ ...key, id: record.id, items, version: record.version }).unwrap();
    else await createRecord({ ...key, id, items }).unwrap();
    return true;
  };
  const save = async () => {
    if (items && (await act(() => store(items), text('record.saved')))) onDone();
  };
  return (
    <Flex direction="column" alignItems="stretch" gap={4}>
      {!record && (
        <Field.Root hint={text('record.id.hint')}>
          <Field.Label>{text('record')}</Field.Label>
          <TextInput
            value={id}
            maxLength={255}
            onChange={({ target }: { target: { value: string } }) => setId(target.value)}
          />
          <Field.Hint />
        </Field.Root>
      )}
      <Field.Root error={items ? undefined : text('options.invalid')}>
        <Field.Label>{text('items')}</Field.Label>
        {/* Not the input of JSON of the design system: it has no accessible name, and Tab does not leave it. */}
        <Textarea
          value={entered}
          onChange={({ target }) => setEntered(target.value)}
          disabled={!mayChange}
          rows={16}
          spellCheck={false}
          style={{ fontFamily: 'monospace' }}
        />
        <Field.Error />
      </Field.Root>
      {mayChange && (
        <Flex>
          <Button onClick={save} disabled={!items}>
            {text('rule.save')}
          </Button>
        </Flex>
      )}
    </Flex>
  );
}
