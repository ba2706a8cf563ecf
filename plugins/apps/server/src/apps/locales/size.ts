/** A number of bytes as a value of a message: it is shown as a size in the language of the page. */
export interface Size {
  bytes: number;
}

const units: [number, string][] = [
  [1024 ** 3, 'gigabyte'],
  [1024 ** 2, 'megabyte'],
  [1024, 'kilobyte'],
];

/** A number of bytes in words: `1.5 MB`, in French `1,5 Mo`. A kilobyte has 1024. @param tag BCP 47 */
export function sizeText(bytes: number, tag: string): string {
  const [size, unit] = units.find(([one]) => bytes >= one) ?? [1, 'byte'];
  const unitDisplay = unit === 'byte' ? 'long' : 'short';
  return new Intl.NumberFormat(tag, { style: 'unit', unit, unitDisplay, maximumFractionDigits: 1 }).format(
    bytes / size,
  );
}

const isSize = (value: unknown): value is Size => typeof (value as Partial<Size> | null)?.bytes === 'number';

/** The values of a message with sizes in words. */
export function withSizes(values: { [name: string]: unknown }, tag: string): { [name: string]: unknown } {
  const entries = Object.entries(values).map(([name, value]) => [
    name,
    isSize(value) ? sizeText(value.bytes, tag) : value,
  ]);
  return Object.fromEntries(entries);
}
