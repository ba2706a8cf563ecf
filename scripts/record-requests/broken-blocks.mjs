/** Files of the app `broken`: blocks with one mistake each. */
const mistakes = {
  'yaml-syntax.yaml': 'elements:\n  a: [1\n',
  'yaml-key.yaml': 'elements:\n  a: BASIC\ntraget: ajax\n',
  'yaml-type.yaml': 'elements:\n  a: BASC\n  b: { type: TEXT, maxlengh: 3 }\n',
  'yaml-twice.yaml': 'elements:\n  a: BASIC\n  a: TEXT\n',
  'yaml-option.yaml': 'elements:\n  a: { type: NUMBER, min: x }\n  b: { type: SELECT, options: 5 }\n',
  'yaml-tag.yaml': 'elements: !!js/function x\n',
  'layout-tag.html': '<p>\n  {% nosuchtag %}\n</p>\n',
  'layout-open.html': '<p>{% if a %}\n</p>\n',
  'layout-filter.html': '<p>{{ a | nosuchfilter }}</p>\n',
  'layout-element.yaml': 'elements: { a: BASIC }\n',
  'layout-element.html': '<p>{a} {absent}</p>\n',
  'logic-syntax.js': 'export function value() {\n  return (;\n}\n',
  'logic-top.js': "throw new Error('at the top');\n",
  'logic-type.ts': 'export const value = (: string) => 1;\n',
  'logic-import.js': "import fs from 'node:fs';\nexport const value = () => 1;\n",
  'python-syntax.py': 'def value(context):\n    return (\n',
  'python-throws.py': "def value(context):\n    raise ValueError('from python')\n",
  'throws.js':
    "export function value() {\n  return inner();\n}\nfunction inner() {\n  throw new Error('words of the logic');\n}\n",
  'result.js': 'export const value = () => 1n;\n',
  'two.js': 'export const value = () => 1;\n',
  'two.py': 'def value(context):\n    return 1\n',
  'redirects.js': "export const value = ({ request }) => request.response.redirect('https://evil.example/');\n",
  'header.js': "export const value = ({ request }) => request.response.set_header('Set-Cookie', 'a=b');\n",
  'query.js': "export const value = ({ app }) => app.search('total = 1');\n",
  'argument.js': 'export const value = ({ app }) => app.get_record(5, 6);\n',
  'absent.js': "export const value = ({ api }) => api.documents('no::such.type').findMany();\n",
};

const blockOf = (file) => file.replace(/\.\w+$/, '');

/** Adds defaults to the blocks: an element `value` and a layout that shows it. */
function completed(blocks) {
  const names = [...new Set(Object.keys(blocks).map(blockOf))];
  const added = names.flatMap((name) => [
    [`${name}.yaml`, 'elements: { value: BASIC }\n'],
    [`${name}.html`, '<p>before {value} after</p>\n'],
  ]);
  return { ...Object.fromEntries(added), ...blocks };
}

export const brokenNames = [...new Set(Object.keys(mistakes).map(blockOf))].sort();

export const brokenBlocks = completed(mistakes);
