import { returns, row } from './row';
import * as is from './schema';

const mail = is.options({
  to: is.list(is.string),
  subject: is.string,
  text: is.string,
  html: is.string,
  reply_to: is.string,
});

/** The host function for mail. */
export const mailFunctions = {
  sendMail: row({
    doc: 'Queues a mail, which is sent once the request is stored.',
    details:
      '`to`: an address or a list, each allowed by `mail` in settings.yaml. Throws RateLimitError when the app has sent too many.',
    written: [
      'mail.send({ to, subject, text, html, reply_to })',
      'mail.send(to, subject, text=None, html=None, reply_to=None)',
    ],
    types: { Mail: ['send(mail: MailInput): void'] },
    python: {
      Mail: [
        'def send(self, to: str | list[str], subject: str, text: str | None = None, html: str | None = None, reply_to: str | None = None) -> None',
      ],
    },
    args: { mail },
    permission: 'none',
    flushes: false,
    returns: returns<void>(),
  }),
};
