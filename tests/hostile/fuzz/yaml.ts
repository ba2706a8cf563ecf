import { readDefinition } from '../../../plugins/apps/server/src/apps/definitions/definition';
import { readSettings } from '../../../plugins/apps/server/src/apps/definitions/settings';
import { elementTypes, readAlone } from '../../../plugins/apps/server/src/apps/elements';
import { blockReference } from '../../../plugins/apps/server/src/apps/pages/embed';
import { readRules } from '../../../plugins/apps/server/src/apps/pages/rules';
import { compilePattern } from '../../../plugins/apps/server/src/apps/patterns';
import { printable } from '../../../plugins/apps/server/src/common/log';
import { checkNumbers } from '../../../plugins/apps/server/src/common/numbers';
import { checkEncoded, checkUtf8 } from '../../../plugins/apps/server/src/http/request/text';
import { createAddressParser } from '../../../plugins/apps/server/src/sites/addresses';
import type { Subject } from './grow';
import { tokens } from './tokens';

/** Characters of a YAML file, and a little more. */
const file = 128 * 1024 + 8;
/** Characters of a body. */
const body = 1024 * 1024;

/** Tokens of YAML, with the beginnings and endings of constructs that span several lines. */
const yaml = tokens(`
  a  a:␣  -␣  ?␣  :␣  ⏎  ⏎␣␣  ⏎␣␣␣␣  \r⏎  ⇥  ␣  ⏎-␣  ⏎␣␣-␣  ⏎#␣  ␣#␣  [  ]  {  }  ,␣  [a,␣  {a: b},␣  [[[  ]]]  '
  ''  "  \\n  \\"  \\x41  "\\⏎  &a␣  *a  *a,␣  &a⏎  &x#␣  *x#,␣  !!str␣  !!map  !a!b␣  !<a>  !  %TAG !a! b⏎
  %YAML 1.2⏎  |⏎␣  >⏎␣  |+⏎  >-2⏎  ---⏎  ...⏎  ---␣  \uFEFF  ~  null  1  0x  1e  .  -  +  0o7  k#: v⏎  - v#⏎
  "k#": 1,␣  <<: *a⏎  __proto__: 1⏎  é  \u2028  \0  🍎  \`  @  %
`);

const definition = tokens(`
  e#: TEXT  e#: {type: TEXT}  type: SELECT  options: [a#,␣  options: *a  {value: #, label: l#},␣  pattern: '  (a+)+
  \\p{L}  a{1,9}  [^a-z]  |  label:␣  min: 1  default:␣  view: {id: a#}  view_permission: [u#,␣  index_type: field
  elements:␣  target: ajax  refresh: on-change
`);

const rules = tokens(`
  - {append: a, include: /@@apps/a/blocks/b}  - append:␣  ␣␣include: /@@apps/a/blocks/  ␣␣if_path:␣  /  *  **  ?
  ␣␣if_content:␣  a > b  :not(  :is(a,  )  [a=b]  ~␣  .c#  ␣␣select:␣
`);

const settings = ['acl: ', 'rights: {', 'reader: [u#, ', 'roles: {r#: ', '[*, ', 'debug: true', "'*', "];

const path = tokens(`/  //  %2F  %  %C3  a  .  ..  @@apps  @@  @@apps/open/record/  %00  %FF  +  ;`);

const entry = ['1', '11', '.', 'e', '-', ' ', 'x', '@', 'a.', 'a-', ':', '/', 'http://', 'T', '2026-', 'é', '\n', '%'];

const json = tokens(`1  9  .  e  E+  -  "  \\  \\"  ,  [  ]  {  }  :  ␣  12345678901234567  e400`);

const read =
  (reader: (file: { path: string; text: string }) => unknown) =>
  (text: string): unknown =>
    reader({ path: 'a.yaml', text });

const inputs = [...elementTypes].filter(([, type]) => type.read);

/** Functions that read YAML and the values of definitions, and functions that read texts of visitors. */
export const subjects: readonly Subject[] = [
  { name: 'settings', pieces: [...yaml, ...settings], work: read(readSettings), maxSize: file },
  { name: 'definition', pieces: [...yaml, ...definition], work: read(readDefinition), maxSize: file },
  {
    name: 'elements',
    pieces: [...yaml, ...definition],
    work: read(readDefinition),
    maxSize: file,
    frame: ['elements:\n  ', ''],
  },
  {
    name: 'a flow',
    pieces: [...yaml, ...definition],
    work: read(readDefinition),
    maxSize: file,
    frame: ['elements: {a: [', ']}'],
  },
  { name: 'rules', pieces: [...yaml, ...rules], work: read(readRules), maxSize: file },
  { name: 'a rule', pieces: rules, work: read(readRules), maxSize: file, frame: ['- append: a\n', ''] },
  { name: 'patterns', pieces: [...definition, '(', ')', '[', ']', '*', '{9}'], work: compilePattern, maxSize: 1_000 },
  {
    name: 'pattern input',
    pieces: entry,
    work: (text) => compilePattern('(a|[^a])*(1+)*x?')(text),
    maxSize: 4_000,
  },
  { name: 'references', pieces: path, work: blockReference, maxSize: 10_000 },
  { name: 'addresses', pieces: path, work: createAddressParser(['site']), maxSize: 16_000, frame: ['/site/', ''] },
  ...inputs.map(([name, kind]) => ({
    name: `input ${name}`,
    pieces: entry,
    work: (text: string) =>
      readAlone({ name: 'a', type: name, kind, settings: {}, position: { file: '' } }, [text], { left: 2_000_000 }),
    maxSize: body,
  })),
  { name: 'numbers', pieces: json, work: (text) => checkNumbers(text), maxSize: body },
  { name: 'encoded', pieces: [...path, '&', '='], work: (text) => checkEncoded(text, ''), maxSize: body },
  {
    name: 'utf-8',
    pieces: [...path, 'é', '🍎', '\ud800'],
    work: (text) => checkUtf8(Buffer.from(text, 'latin1'), ''),
    maxSize: body,
  },
  { name: 'log lines', pieces: [...path, '\n', '\u001b', '\u202e'], work: printable, maxSize: body },
];
