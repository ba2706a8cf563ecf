import { Badge, Box, Link } from '@strapi/design-system';
import type { Json } from '../../../../../shared/json';
import { useText } from '../../../plugin';

/** Characters of a value that a cell shows. */
const MAX_SHOWN = 200;

interface StoredFile {
  url: string;
  name: string;
  mime?: string;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether a value is a file of the media library, as records keep them. */
const isFile = (value: unknown): value is StoredFile =>
  isObject(value) && typeof value.documentId === 'string' && typeof value.url === 'string' && 'mime' in value;

/** Addresses that a link may lead to: a record's text may be anything. */
const isSafe = (url: string): boolean => /^(https?:\/\/|\/(?!\/))/i.test(url);

/** An item of a record in a cell, by the type of its element. */
export function ItemValue({ value, type }: { value: Json | undefined; type: string | undefined }) {
  const text = useText();
  if (value === undefined || value === null || value === '') return <>–</>;
  if (typeof value === 'boolean') return <Badge>{text(value ? 'value.true' : 'value.false')}</Badge>;
  if (typeof value === 'number') return <>{value}</>;
  if (Array.isArray(value) && value.every((one) => typeof one === 'string' || isFile(one))) {
    return (
      <>
        {(value as Json[]).slice(0, 10).map((one, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a list may hold a value twice
          <Box key={at}>
            <ItemValue value={one} type={type} />
          </Box>
        ))}
      </>
    );
  }
  if (isFile(value)) return <FileLink file={value} />;
  if (typeof value !== 'string') return <code>{shortened(JSON.stringify(value))}</code>;
  if (type === 'URL' && isSafe(value)) {
    return (
      <Link href={value} isExternal>
        {shortened(value)}
      </Link>
    );
  }
  if ((type === 'DATE' || type === 'DATETIME') && !Number.isNaN(Date.parse(value)))
    return <time dateTime={value}>{shownDate(value, type)}</time>;
  return <>{shortened(value)}</>;
}

function FileLink({ file: { url, name, mime } }: { file: StoredFile }) {
  if (!isSafe(url)) return <>{name}</>;
  return (
    <Link href={url} isExternal>
      {mime?.startsWith('image/') ? (
        <img src={url} alt={name} style={{ maxHeight: '3.2rem', maxWidth: '8rem' }} />
      ) : (
        name
      )}
    </Link>
  );
}

/** A date has no time zone: it is shown as the day that it names. */
const shownDate = (value: string, type: string): string =>
  type === 'DATE' ? new Date(`${value}T00:00`).toLocaleDateString() : new Date(value).toLocaleString();

const shortened = (value: string): string => (value.length > MAX_SHOWN ? `${value.slice(0, MAX_SHOWN)}…` : value);
