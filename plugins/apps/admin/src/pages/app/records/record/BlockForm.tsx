import { Alert, Box, Typography } from '@strapi/design-system';
import { Page } from '@strapi/strapi/admin';
import { useRef, useState } from 'react';
import type { AppDetail } from '../../../../../../shared/admin-api';
import { type PanelError, useAction, useErrorText } from '../../../../api/base';
import { useAppsRecordFormQuery, useAppsSubmitFormMutation } from '../../../../api/records';
import { useText } from '../../../../plugin';
import { focusFirst, page, type Sent, sentBy } from './form-page';

interface Props {
  app: AppDetail;
  block: string;
  /** The record to change; without it a new one is made. */
  id?: string;
  onDone(): void;
}

/**
 * The block's own form, as the site shows it. It stands in a frame in which no script runs: it is the HTML of a theme. What
 * is sent from it goes through the panel, and is checked as on the site.
 */
export function BlockForm({ app, block, id, onDone }: Props) {
  const text = useText();
  const act = useAction();
  const textOf = useErrorText();
  const frame = useRef<HTMLIFrameElement>(null);
  const key = { site: app.site, app: app.id, block, ...(id === undefined ? {} : { id }) };
  const { data, error } = useAppsRecordFormQuery(key, { refetchOnMountOrArgChange: true });
  const [submitForm] = useAppsSubmitFormMutation();
  const [again, setAgain] = useState<string | null>(null);
  const [refused, setRefused] = useState<string | null>(null);
  if (error) return <Typography textColor="danger600">{textOf(error)}</Typography>;
  if (!data) return <Page.Loading />;

  const submit = async (sent: Sent) => {
    try {
      const outcome = await submitForm({ ...key, ...sent }).unwrap();
      if (outcome.kind === 'shown') return setAgain(outcome.html);
      await act(async () => true, text(outcome.kind === 'saved' ? 'record.saved' : 'deleted'));
      onDone();
    } catch (failure) {
      const { html } = ((failure as PanelError).details ?? {}) as { html?: unknown };
      setRefused(textOf(failure));
      if (typeof html === 'string') setAgain(html);
    }
  };
  const listen = () => {
    const inside = frame.current?.contentDocument;
    inside?.addEventListener('submit', (event) => {
      event.preventDefault();
      submit(sentBy(event));
    });
    // Links of the block lead out of the panel.
    for (const link of inside?.links ?? []) link.target = '_blank';
    if (inside) focusFirst(inside);
    if (frame.current && inside) frame.current.style.height = `${inside.documentElement.scrollHeight + 16}px`;
  };
  return (
    <Box paddingTop={4}>
      {refused && (
        <Box paddingBottom={4}>
          <Alert variant="danger" closeLabel={text('close')} onClose={() => setRefused(null)} title="">
            {refused}
          </Alert>
        </Box>
      )}
      <iframe
        ref={frame}
        title={text('record.new.form', { block })}
        srcDoc={page(again ?? data.html)}
        sandbox="allow-same-origin allow-forms allow-popups"
        onLoad={listen}
        style={{ width: '100%', minHeight: '24rem', border: 0, background: '#fff' }}
      />
    </Box>
  );
}
