import { Badge, Box, Link } from '@strapi/design-system';
import { useEffect, useState } from 'react';
import { valueKinds } from '../../../../../shared/admin-api';
import type { Json } from '../../../../../shared/json';
import { privateFile, type RecordFile, usePrivateFiles } from '../../../api/records';
import { useText } from '../../../plugin';

/** Characters of a value that a cell shows. */
const MAX_SHOWN = 200;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether a value is a file of the media library, as records keep them. */
export const isFile = (value: unknown): value is RecordFile =>
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
  const kind = type === undefined ? undefined : valueKinds[type];
  if (kind === 'link' && isSafe(value)) {
    return (
      <Link href={value} isExternal>
        {shortened(value)}
      </Link>
    );
  }
  if ((kind === 'date' || kind === 'datetime') && !Number.isNaN(Date.parse(value)))
    return <time dateTime={value}>{shownDate(value, kind)}</time>;
  return <>{shortened(value)}</>;
}

/** A file that can be opened or saved; of an image a small picture. */
export function FileLink({ file }: { file: RecordFile }) {
  const { url, name, mime, thumbnail } = file;
  if (!isSafe(url)) return <>{name}</>;
  if (privateFile(url)) return <PrivateLink file={file} />;
  return (
    <Link href={url} isExternal>
      {mime?.startsWith('image/') ? <SmallPicture src={thumbnail ?? url} name={name} /> : name}
    </Link>
  );
}

const SmallPicture = ({ src, name }: { src: string; name: string }) => (
  <img src={src} alt={name} style={{ maxHeight: '3.2rem', maxWidth: '8rem' }} />
);

/** A private file, which the panel reads with the permission of the administrator. */
function PrivateLink({ file }: { file: RecordFile }) {
  const { url, name, mime, thumbnail } = file;
  const { read, save } = usePrivateFiles();
  const [picture, setPicture] = useState<string | null>(null);
  const isPicture = mime?.startsWith('image/') === true;
  useEffect(() => {
    let [isShown, made] = [isPicture, ''];
    const show = async () => {
      const found = await read(url, thumbnail !== undefined);
      if (!isShown) return;
      made = 'bytes' in found ? URL.createObjectURL(found.bytes) : '';
      setPicture('bytes' in found ? made : found.address);
    };
    // Without a picture its name is shown.
    if (isPicture) show().catch(() => undefined);
    return () => {
      isShown = false;
      if (made) URL.revokeObjectURL(made);
    };
  }, [read, url, thumbnail, isPicture]);
  return (
    <Link
      href={url}
      onClick={(event: { preventDefault(): void }) => {
        event.preventDefault();
        save(file);
      }}
    >
      {picture ? <SmallPicture src={picture} name={name} /> : name}
    </Link>
  );
}

/** A date has no time zone: it is shown as the day that it names. */
const shownDate = (value: string, kind: 'date' | 'datetime'): string =>
  kind === 'date' ? new Date(`${value}T00:00`).toLocaleDateString() : new Date(value).toLocaleString();

const shortened = (value: string): string => (value.length > MAX_SHOWN ? `${value.slice(0, MAX_SHOWN)}…` : value);
