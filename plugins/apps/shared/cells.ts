/** How the cells of a column are read: by the type of the element that its item has, or by what all its cells are. */
export type CellKind = 'text' | 'number' | 'boolean' | 'date' | 'datetime' | 'time' | 'list' | 'json';

/** Signs between the cells of a CSV table, by the names that people choose them by. */
export const separators = { comma: ',', semicolon: ';', tab: '\t' } as const;

export type Separator = keyof typeof separators;

export const separatorNames = ['comma', 'semicolon', 'tab'] as const satisfies readonly Separator[];

/** Encodings of a text file that people choose; without a choice it is found in the file. */
export const encodings = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'] as const;

export type Encoding = (typeof encodings)[number];
