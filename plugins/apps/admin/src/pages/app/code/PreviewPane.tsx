import { Button, Field, Flex, SingleSelect, SingleSelectOption } from '@strapi/design-system';
import { useState } from 'react';
import type { AppDetail } from '../../../../../shared/admin-api';
import { useAppsPreviewMutation } from '../../../api/code';
import { useAppsRightsMatrixQuery } from '../../../api/records';
import { PreviewResult, type Width, WidthButtons } from '../../../components/preview';
import { useMay } from '../../../permissions';
import { useText } from '../../../plugin';
import { useDebouncedRequest } from '../../../use-debounced';

interface Props {
  app: AppDetail;
  block: string;
  /** Texts that are not saved, by path. */
  files: Record<string, string>;
}

/** The page of a block as a requester sees it, with texts that are not saved. It follows what is typed. */
export function PreviewPane({ app, block, files }: Props) {
  const text = useText();
  const [who, setWho] = useState('anonymous');
  const [content, setContent] = useState('');
  const [width, setWidth] = useState<Width>('desktop');
  const { data: matrix } = useAppsRightsMatrixQuery({ site: app.site, app: app.id });
  const [show] = useAppsPreviewMutation();
  const request = { site: app.site, app: app.id, block, who, content, files };
  const { answer, error, isLoading, refresh } = useDebouncedRequest(request, (wanted) => show(wanted).unwrap());
  const isAnyone = useMay()(['records']);
  const groups = isAnyone ? (matrix?.groups ?? []) : [];
  const people = ['anonymous', ...groups.map((name) => `group:${name}`)];
  return (
    <Flex direction="column" alignItems="stretch" gap={3}>
      <Flex gap={3} wrap="wrap" alignItems="flex-end">
        <Field.Root name="who" {...(!isAnyone && { hint: text('code.preview.visitor') })}>
          <Field.Label>{text('code.preview.who')}</Field.Label>
          <SingleSelect value={who} onChange={(chosen) => setWho(String(chosen))}>
            {people.map((one) => (
              <SingleSelectOption key={one} value={one}>
                {one.replace(/^group:/, '')}
              </SingleSelectOption>
            ))}
          </SingleSelect>
          <Field.Hint />
        </Field.Root>
        <Field.Root name="content">
          <Field.Label>{text('code.preview.content')}</Field.Label>
          <Field.Input value={content} onChange={({ target }) => setContent(target.value)} maxLength={400} />
        </Field.Root>
        <WidthButtons width={width} onChoose={setWidth} />
        <Button variant="tertiary" loading={isLoading} onClick={refresh}>
          {text('code.preview.refresh')}
        </Button>
      </Flex>
      <PreviewResult title={text('code.preview')} answer={answer} error={error} width={width} />
    </Flex>
  );
}
