import { asciiAddress } from '../common/text';
import type { HostDatabase } from '../database';
import type { CountedReceipt, Receipts } from './types';

/** A moment or a day that a calendar shows. */
interface CalendarEvent {
  /** The same for each file about one event: a calendar then has it once. */
  uid: string;
  title: string;
  /** Where it is described; null for nowhere. */
  url: string | null;
  /** Milliseconds since 1970; of a whole day those at which it begins in UTC. */
  start: number;
  isDay: boolean;
  /** When the file is made, in milliseconds since 1970. */
  made: number;
}

/** Bytes of a line in UTF-8, without its end (RFC 5545, 3.1). */
const MAX_LINE = 75;

const DAY = 86_400_000;

/**
 * An iCalendar file with one event (RFC 5545). Moments are written in UTC, which each calendar shows in its own time zone.
 */
export function calendarFile({ uid, title, url, start, isDay, made }: CalendarEvent): string {
  const when = isDay
    ? [`DTSTART;VALUE=DATE:${day(start)}`, `DTEND;VALUE=DATE:${day(start + DAY)}`]
    : [`DTSTART:${moment(start)}`];
  const lines = [
    ...['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//strapi-plugin-apps//receipt//EN', 'METHOD:PUBLISH'],
    ...['BEGIN:VEVENT', `UID:${escaped(uid)}`, `DTSTAMP:${moment(made)}`, ...when, `SUMMARY:${escaped(title)}`],
    ...(url === null ? [] : [`URL:${url}`]),
    ...['END:VEVENT', 'END:VCALENDAR'],
  ];
  return lines.map((line) => `${foldedLine(line)}\r\n`).join('');
}

const digits = (time: number): string => new Date(time).toISOString().replace(/[-:]|\.\d{3}/g, '');

const moment = digits;

const day = (time: number): string => digits(time).slice(0, 8);

/** A text as a value: no line of its own can follow from it. */
const escaped = (text: string): string =>
  text
    .replace(/[\\;,]/g, '\\$&')
    .replace(/\r\n|[\r\n\u2028\u2029]/g, '\\n')
    .replace(/\p{Cc}/gu, '');

/** A line in parts of at most 75 bytes, none of which ends within a character. */
function foldedLine(line: string): string {
  let [text, size] = ['', 0];
  for (const character of line) {
    const bytes = Buffer.byteLength(character);
    if (size + bytes > MAX_LINE) {
      text += '\r\n ';
      size = 1;
    }
    text += character;
    size += bytes;
  }
  return text;
}

const COUNTS = 'apps_form_posts';
const REFUSALS = 'apps_mail_refusals';

/** Milliseconds in which mails are counted together. */
const WINDOW = 60 * 60_000;

/** `<digest of site and address><signature of it>`, base64url. */
const TOKEN = /^([\w-]{43})([\w-]{43})$/;

/** Keyed hashes under Strapi's keys (auth/credentials/keyring.ts). */
interface Signer {
  sign(parts: readonly (string | number)[]): string;
  /** In constant time, under any of the keys. */
  verify(parts: readonly (string | number)[], mac: string): boolean;
  /** Those that `sign` gives, or has given under an earlier key. */
  all(parts: readonly (string | number)[]): string[];
}

interface ReceiptsTools {
  database: HostDatabase;
  keyring: Signer;
  /** Mails in an hour, to an address of each kind (needed, and others); 0: any number. */
  limits: { perAddress: number; perNetwork: number };
  /** Milliseconds since the epoch. */
  now?: () => number;
}

/** The form of an address in which it is counted and refused: without differences of letter case and of the spelling of its domain. */
const folded = (address: string): string => asciiAddress(address.trim()).toLowerCase();

const refusalOf = (site: string, address: string) => ['receipt-refusal', site, folded(address)] as const;
const tokenOf = (site: string, digest: string) => ['receipt-refused', site, digest] as const;

/** Whether a text is the one base64url encoding of its bytes: the last character has bits that no byte needs. */
const isExact = (text: string): boolean => Buffer.from(text, 'base64url').toString('base64url') === text;

type Counted = Pick<CountedReceipt, 'address' | 'network' | 'isNeeded'>;

/** Which receipts are sent, for all processes (docs/decisions/confirmation.md). */
export function createReceipts({ database, keyring, limits, now = Date.now }: ReceiptsTools): Receipts {
  /** The connection of the caller's transaction, if there is one: what is counted is undone with the rest of it. */
  const connection = async () => (await database.current()) ?? database.knex();

  /** Adds one to a count, unless it has reached its limit. The row stays locked until the transaction ends. */
  async function take(id: string, limit: number): Promise<boolean> {
    const db = await connection();
    const [at, row] = [now(), { count_id: id }];
    const fresh = { posts: 0, ends_at: at + WINDOW };
    for (;;) {
      // Not ignored where it is there: MariaDB would let several share its lock, and all but one lose when they then count.
      await db(COUNTS)
        .insert({ ...row, ...fresh })
        .onConflict('count_id')
        .merge(row);
      await db(COUNTS).where(row).where('ends_at', '<=', at).update(fresh);
      if ((await db(COUNTS).where(row).where('posts', '<', limit).increment('posts', 1)) > 0) return true;
      // Another process may have deleted the row meanwhile, because its time was over. Locked: MariaDB would look at an older snapshot.
      if ((await db(COUNTS).where(row).forUpdate().select('id')).length > 0) return false;
    }
  }

  // Mails without which a record cannot be confirmed are counted apart: no other mail takes what an address has left of them.
  const countsOf = ({ address, network, isNeeded }: Counted): [id: string, limit: number][] => [
    [keyring.sign([isNeeded ? 'receipt-address' : 'receipt-other', folded(address)]), limits.perAddress],
    ...(network === null
      ? []
      : [[keyring.sign(['receipt-network', network]), limits.perNetwork] satisfies [string, number]]),
  ];

  async function isRefused(site: string, address: string): Promise<boolean> {
    const digests = keyring.all(refusalOf(site, address));
    const db = await connection();
    return (await db(REFUSALS).where({ site }).whereIn('digest', digests).select('id').limit(1)).length > 0;
  }

  return {
    async admit({ site }, receipt) {
      // In one order, so that no two requests wait for each other.
      for (const [id, limit] of countsOf(receipt).sort()) if (limit > 0 && !(await take(id, limit))) return 'full';
      // An address that wants no mail counts like any other: no answer tells them apart.
      return (await isRefused(site, receipt.address)) ? 'refused' : 'sent';
    },
    token(site, address) {
      const digest = keyring.sign(refusalOf(site, address));
      return digest + keyring.sign(tokenOf(site, digest));
    },
    read(site, token) {
      const [, digest = '', mac = ''] = TOKEN.exec(token) ?? [];
      const isSigned = keyring.verify(tokenOf(site, digest), mac);
      return isSigned && isExact(digest) && isExact(mac) ? digest : null;
    },
    isRefused: async (site, digest) =>
      (await database.knex()(REFUSALS).where({ site, digest }).select('id').limit(1)).length > 0,
    async refuse(site, digest, isOn) {
      const row = { site, digest };
      const table = () => database.knex()(REFUSALS);
      if (isOn)
        await table()
          .insert({ ...row, refused_at: now() })
          .onConflict(['site', 'digest'])
          .ignore();
      else await table().where(row).delete();
    },
  };
}
