import type { Core } from '@strapi/strapi';
import { within } from '../common/time/deadline';
import type { MailRow } from './types';

/** Milliseconds that the provider gets for one mail. */
const TIMEOUT = 30_000;

/** Characters of a provider's message that are kept. */
const MAX_MESSAGE = 500;

/** Why a mail was not sent. */
export interface SendFailure {
  message: string;
  /** Trying again would not help, or might send it twice. */
  isFinal: boolean;
}

interface EmailService {
  send(mail: Record<string, unknown>): Promise<unknown>;
}

/** Sends a mail by Strapi's email plugin and its provider; null when it took it. Never rejects. */
export async function sendBy(strapi: Core.Strapi, row: MailRow): Promise<SendFailure | null> {
  const service = strapi.plugin('email')?.service('email') as EmailService | undefined;
  if (!service) return { message: "Strapi's email plugin is not enabled", isFinal: true };
  const { recipients: to, subject, text, html, replyTo } = row;
  const mail = { to, subject, ...(text && { text }), ...(html && { html }), ...(replyTo && { replyTo }) };
  try {
    const sent = await within(service.send(mail), TIMEOUT, false);
    return sent === 'late' ? { message: `the provider did not answer in ${TIMEOUT / 1000} s`, isFinal: true } : null;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { message: message.slice(0, MAX_MESSAGE), isFinal: false };
  }
}
