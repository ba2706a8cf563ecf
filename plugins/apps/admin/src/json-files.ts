import type { Items } from '../../shared/json';

/** The object that a text is as JSON; undefined for anything else. */
export function readObject(text: string): Items | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Items) : undefined;
  } catch {
    return undefined;
  }
}

/** Lets the browser save bytes as a file. */
export function saveFile(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser reads the address after the click.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
