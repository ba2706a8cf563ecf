const definition = `title: 'Application of {name}'
view: { id: apply, with_theme: true }
pages:
  - { title: You, elements: [name, kind, address] }
  - { title: Company <1>, elements: [vat, pin, cv], show_if: { kind: company } }
  - { title: Work, elements: [refs, level, news, mail] }
elements:
  name: { type: TEXT, label: Name, required: true }
  kind: { type: SELECT, label: Kind, options: [private, company], default: private }
  street: { type: TEXT, label: Street }
  address: { type: GROUP, label: Address, elements: [street] }
  vat: { type: TEXT, label: VAT number, required: true }
  pin: { type: TEXT, label: Code, autocomplete: one-time-code }
  cv: { type: FILE, label: Statement }
  refs: { type: REPEAT, label: References, entry_label: Reference, elements: { who: { type: TEXT, label: Who, required: true } } }
  level: { type: NUMBER, label: Level }
  news: { type: BOOLEAN, label: News }
  mail: { type: EMAIL, label: Mail, required: true, show_if: { news: true } }
`;

/** An app with a form of several pages: files of a theme by path. */
export const pagesApp: Record<string, string> = {
  'apps/steps/settings.yaml': "acl:\n  rights:\n    editor: ['*']\n",
  'apps/steps/blocks/apply.yaml': definition,
  'apps/steps/blocks/apply.html': '<h1>Apply</h1>{_pages}{_edit}',
  'apps/steps/blocks/apply.js': `export const level = () => 7;
export function validate(context) {
  if (context.request.get('name') === 'Loki') context.invalid('street', 'Not at this street');
}
`,
  'apps/steps/blocks/ajax.yaml': definition.replace('view: { id: apply, with_theme: true }', 'target: ajax'),
  'apps/steps/blocks/ajax.js': 'export const level = () => 7;',
  'apps/steps/blocks/ajax.html': '<h1>Apply</h1>{_pages}',
};
