import { Button, Field, Flex } from '@strapi/design-system';
import { useState } from 'react';
import { useAppsPreviewThemeMutation } from '../../api/apps';
import { PreviewResult, type Width, WidthButtons } from '../../components/preview';
import { useText } from '../../plugin';
import { useDebouncedRequest } from '../../use-debounced';

/** A page of a site as visitors would see it with another theme, before that is used. */
export default function ThemePreview({ site, theme }: { site: string; theme: string }) {
  const text = useText();
  const [path, setPath] = useState('');
  const [width, setWidth] = useState<Width>('desktop');
  const [show] = useAppsPreviewThemeMutation();
  const request = { site, theme, path };
  const { answer, error, isLoading, refresh } = useDebouncedRequest(request, (wanted) => show(wanted).unwrap());
  return (
    <Flex direction="column" alignItems="stretch" gap={3}>
      <Flex gap={3} wrap="wrap" alignItems="flex-start">
        <Field.Root name="path" hint={text('theme.preview.hint')} flex="1 1 20rem">
          <Field.Label>{text('theme.preview.path')}</Field.Label>
          <Field.Input value={path} placeholder="/" onChange={({ target }) => setPath(target.value)} maxLength={400} />
          <Field.Hint />
        </Field.Root>
        <Flex gap={2} paddingTop={5} wrap="wrap">
          <WidthButtons width={width} onChoose={setWidth} />
          <Button variant="tertiary" loading={isLoading} onClick={refresh}>
            {text('code.preview.refresh')}
          </Button>
        </Flex>
      </Flex>
      <PreviewResult title={text('theme.preview', { theme })} answer={answer} error={error} width={width} height={50} />
    </Flex>
  );
}
