import { de } from './de';
import { en, type ServiceMessages } from './en';
import { es } from './es';
import { fr } from './fr';

const languages: Record<string, ServiceMessages> = { en, fr, de, es };

/** The service's own messages for visitors, by language (docs/reference/languages.md#messages-of-the-service). */
export const serviceMessages: Readonly<Record<string, ReadonlyMap<string, string>>> = Object.fromEntries(
  Object.entries(languages).map(([language, messages]) => [language, new Map(Object.entries(messages))]),
);

export type ServiceMessage = keyof ServiceMessages;
