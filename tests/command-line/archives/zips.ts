import { type Entries, type Patch, renaming } from '../../support/zip';

/** The files of an app. */
export const block = { 'app/blocks/a.html': '' };

const zeros = Buffer.alloc(60 * 1024 * 1024);

/** ZIPs that are refused, made by `zip`, and what the command says. */
export const refusedZips = (
  zip: (entries: Entries, patch?: Patch) => Promise<void>,
): [what: string, make: () => Promise<void>, message: RegExp][] => [
  [
    'that leaves its folder',
    () => zip({ ...block, 'app/XXXXXX.txt': '' }, renaming('app/XXXXXX.txt', '../escaped.txt')),
    /leaves its folder/,
  ],
  [
    'with an absolute path',
    () => zip({ ...block, 'XXXXXXX.txt': '' }, renaming('XXXXXXX.txt', '/tmp/xx.txt')),
    /absolute path/,
  ],
  [
    'with a path of Windows',
    () => zip({ ...block, 'XXXXXXX.txt': '' }, renaming('XXXXXXX.txt', 'C:/x/xx.txt')),
    /absolute path/,
  ],
  ['with backslashes', () => zip({ ...block, 'app/XXX.txt': '' }, renaming('XXX.txt', '..\\x.tx')), /backslash/],
  [
    'with a control character',
    () => zip({ ...block, 'app/XXX.txt': '' }, renaming('XXX.txt', 'X\u0000X.txt')),
    /not every file system/,
  ],
  [
    'with a device of Windows',
    () => zip({ ...block, 'app/lib/aux.js': '' }),
    /a part that is a name that Windows keeps/,
  ],
  ['with a folder that ends with a dot', () => zip({ ...block, 'app/lib./a.js': '' }), /a part that ends with a dot/],
  [
    'with a name that is not UTF-8',
    () => zip({ ...block, 'app/XXX.txt': '' }, renaming('XXX.txt', Buffer.from('\xff\xfeX.txt', 'latin1'))),
    /not every file system/,
  ],
  [
    'with a symbolic link',
    () => zip({ ...block, 'app/blocks/b.html': { text: '/etc/passwd', mode: 0o120777 } }),
    /link or a device/,
  ],
  ['with a name twice', () => zip({ ...block, 'app/blocks/A.html': '' }), /clashes with "app\/blocks\/a.html"/],
  [
    'with a file that is a folder',
    () => zip({ ...block, 'app/Blocks/b.html': '', 'app/blocks/a.html/c': '' }),
    /clashes/,
  ],
  [
    'with an encrypted file',
    () =>
      zip(block, (bytes) => {
        bytes[bytes.indexOf('PK\u0001\u0002') + 8] = 1;
        return bytes;
      }),
    /encrypted/,
  ],
  ['with a file that is too large', () => zip({ ...block, 'app/assets/a': zeros }), /larger than 50 MB/],
  [
    'that is packed too well',
    () => zip({ ...block, 'app/assets/a': zeros.subarray(0, 9_000_000) }),
    /200 times as large/,
  ],
  [
    'with too many files',
    () => zip(Object.fromEntries(Array.from({ length: 5_001 }, (_, n) => [`app/blocks/${n}.html`, '']))),
    /more than 5000 files/,
  ],
  [
    'whose file is larger than it says',
    () =>
      zip({ ...block, 'app/assets/a': 'a'.repeat(5_000) }, (bytes) => {
        bytes.writeUInt32LE(9, bytes.lastIndexOf('PK\u0001\u0002') + 24);
        return bytes;
      }),
    /damaged, or not what it says/,
  ],
  [
    'with a wrong definition',
    () => zip({ 'app/blocks/a.yaml': 'elements:\n  a: TEXTT' }),
    /apps\/app\/blocks\/a\.yaml:2:6: .*"TEXTT" is not known/,
  ],
  ['with wrong settings', () => zip({ 'app/settings.yaml': 'debug: 3' }), /apps\/app\/settings\.yaml:1:8/],
  ['with a wrong theme.yaml', () => zip({ 'a/theme.yaml': 'titel: x', 'a/layout.html': '' }), /theme\.yaml:1:1/],
  ['that holds neither', () => zip({ 'a/readme.txt': '' }), /holds no app .* and no theme/],
  [
    'with a broken catalogue of an app',
    () => zip({ ...block, 'app/locales/fr.yaml': 'a: [1]' }),
    /apps\/app\/locales\/fr\.yaml:1:4/,
  ],
  [
    'with a broken catalogue of a theme',
    () => zip({ 'a/layout.html': '', 'a/locales/fr.yaml': 'a: "{"' }),
    /locales\/fr\.yaml:1:4: .*cannot be read/,
  ],
  ['that holds both', () => zip({ 'blocks/a.html': '', 'rules.yaml': '' }), /side by side/],
  [
    'that leaves a hidden folder',
    () => zip({ ...block, 'app/.git/XXXXXXX.txt': '' }, renaming('app/.git/XXXXXXX.txt', 'app/.git/../../x.txt')),
    /leaves its folder/,
  ],
  [
    'with a path that has a dot for a folder',
    () => zip({ ...block, 'app/XX.txt': '' }, renaming('app/XX.txt', 'app/./.txt')),
    /has an empty part/,
  ],
  [
    'without a name that is an id',
    () => zip({ 'my app/blocks/a.html': '' }),
    /"my app" cannot be the id of an app; choose one with --id/,
  ],
  ['without files', () => zip({}), /holds no app/],
];
