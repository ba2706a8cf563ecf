import { formatMessage } from './catalogue';
import { type ServiceMessage, serviceMessages } from './messages';
import { type Size, withSizes } from './size';

/** A message of the service for visitors, with the values of its placeholders; its language is that of the page. */
export interface Message {
  key: ServiceMessage;
  values?: { [name: string]: string | number | Size };
}

/** A message of the service. */
export function message(key: ServiceMessage, values?: Message['values']): Message {
  return values ? { key, values } : { key };
}

/** A message in English, for those who make the site. */
export const inEnglish = ({ key, values = {} }: Message): string =>
  formatMessage(serviceMessages.en?.get(key) ?? key, 'en', withSizes(values, 'en'));
