import { Box, Typography } from '@strapi/design-system';
import type { AppMails } from '../../../../shared/admin-api';
import { useText } from '../../plugin';

/** What an administrator should know about mails of the app that were not sent, or not yet. */
export function MailNotes({ mails: { waiting, tried, next, kept } }: { mails: AppMails }) {
  const text = useText();
  const at = next === null ? '' : new Date(next).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
  return (
    <>
      {waiting > 0 && <Note>{text('mails.waiting', { waiting, tried, at })}</Note>}
      {kept > 0 && <Note>{text('mails.kept', { kept })}</Note>}
    </>
  );
}

const Note = ({ children }: { children: string }) => (
  <Box role="note" paddingTop={1} paddingBottom={1}>
    <Typography textColor="warning700" tag="p">
      {children}
    </Typography>
  </Box>
);
