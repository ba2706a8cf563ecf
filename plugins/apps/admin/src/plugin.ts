import { type MessageDescriptor, useIntl } from 'react-intl';
import en from './translations/en.json';

export const pluginId = 'apps';

export type TextKey = keyof typeof en;

/** A text of the panel in the form that react-intl takes. */
export const message = (key: TextKey): MessageDescriptor => ({ id: `${pluginId}.${key}`, defaultMessage: en[key] });

/** Gives the panel's texts in the administrator's language. */
export function useText() {
  const { formatMessage } = useIntl();
  return (key: TextKey, values?: Record<string, string | number>) => formatMessage(message(key), values);
}
