import { Box, Button, Field, Flex, SingleSelect, SingleSelectOption, Typography } from '@strapi/design-system';
import { useEffect, useRef, useState } from 'react';
import type { AppDetail } from '../../../../../shared/admin-api';
import { useErrorText } from '../../../api/base';
import { useAppsPreviewMutation } from '../../../api/code';
import { useAppsRightsMatrixQuery } from '../../../api/why';
import { useText } from '../../../plugin';

/** Pixels of the frame. */
const widths = { phone: 390, desktop: 1200 };

interface Props {
  app: AppDetail;
  block: string;
  /** Texts that are not saved, by path. */
  files: Record<string, string>;
}

/** The page of a block as a requester sees it, with texts that are not saved. */
export function PreviewPane({ app, block, files }: Props) {
  const text = useText();
  const textOf = useErrorText();
  const [who, setWho] = useState('anonymous');
  const [content, setContent] = useState('');
  const [width, setWidth] = useState<keyof typeof widths>('desktop');
  const { data: matrix } = useAppsRightsMatrixQuery({ site: app.site, app: app.id });
  const [show, { data, error, isLoading }] = useAppsPreviewMutation();
  const people = ['anonymous', ...(matrix?.groups ?? []).map((name) => `group:${name}`)];
  return (
    <Flex direction="column" alignItems="stretch" gap={3}>
      <Flex gap={3} wrap="wrap" alignItems="flex-end">
        <Field.Root name="who">
          <Field.Label>{text('code.preview.who')}</Field.Label>
          <SingleSelect value={who} onChange={(chosen) => setWho(String(chosen))}>
            {people.map((one) => (
              <SingleSelectOption key={one} value={one}>
                {one.replace(/^group:/, '')}
              </SingleSelectOption>
            ))}
          </SingleSelect>
        </Field.Root>
        <Field.Root name="content">
          <Field.Label>{text('code.preview.content')}</Field.Label>
          <Field.Input value={content} onChange={({ target }) => setContent(target.value)} maxLength={400} />
        </Field.Root>
        {(['phone', 'desktop'] as const).map((one) => (
          <Button key={one} variant={one === width ? 'secondary' : 'tertiary'} onClick={() => setWidth(one)}>
            {text(`code.preview.${one}`)}
          </Button>
        ))}
        <Button loading={isLoading} onClick={() => show({ site: app.site, app: app.id, block, who, content, files })}>
          {text('code.preview')}
        </Button>
      </Flex>
      {error && (
        <Typography role="alert" textColor="danger600">
          {textOf(error)}
        </Typography>
      )}
      {data && (
        <Box borderColor="neutral200" hasRadius>
          {data.status !== 200 && (
            <Typography textColor="danger600">
              {[text('code.preview.status', { status: data.status }), data.redirect].filter(Boolean).join(' → ')}
            </Typography>
          )}
          <Frame title={text('code.preview')} html={data.html} width={widths[width]} />
        </Box>
      )}
    </Flex>
  );
}

/** A page of a width in pixels, made smaller where there is less room. Its scripts do not run. */
function Frame({ title, html, width }: { title: string; html: string; width: number }) {
  const place = useRef<HTMLDivElement>(null);
  const [room, setRoom] = useState(width);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => entry && setRoom(entry.contentRect.width));
    observer.observe(place.current as HTMLDivElement);
    return () => observer.disconnect();
  }, []);
  const scale = Math.min(1, Math.max(1, room) / width);
  return (
    <div ref={place} style={{ height: '60vh', overflow: 'hidden' }}>
      <iframe
        title={title}
        sandbox=""
        srcDoc={html}
        style={{
          ...{ width, height: `${60 / scale}vh`, border: 0, background: '#fff' },
          ...{ transform: `scale(${scale})`, transformOrigin: 'top left' },
        }}
      />
    </div>
  );
}
