const definition = `title: A trip
view: { id: trip, with_theme: true }
pages:
  - { title: You, elements: [name] }
  - { title: Journey, elements: [stops, guides, photo, days, guess] }
elements:
  name: { type: TEXT, label: Name, required: true }
  stops:
    type: REPEAT
    label: Stops
    elements: { town: { type: TEXT, label: Town, required: true } }
  guides: { type: REFERENCE, label: Guides, app: guides, text: name, multiple: true }
  photo: { type: IMAGE, label: Photo }
  days: { type: NUMBER, label: Days }
  guess: { type: ACTION, label: Guess the way }
  way: BASIC
  _delete: { label: Delete, confirm: Delete this trip? }
`;

/** A view with a long form, in an app that is not in the theme otherwise: files of a theme by path. */
export const tripApp: Record<string, string> = {
  'layout.html':
    '<!doctype html><html lang="en"><head><title>{{ page.title }}</title></head><body id="themed"><nav><a href="{{ context.portal.url }}/@@elsewhere">Elsewhere</a></nav><main>{{ main }}</main><script src="{{ context.portal.url }}/@@apps.js" defer></script></body></html>',
  'apps/guides/settings.yaml': "acl: { rights: { editor: ['*'] } }\n",
  'apps/guides/blocks/guide.yaml': 'elements: { name: { type: TEXT, index_type: field } }\n',
  'apps/guides/blocks/guide.html': '{name}{_save}',
  'apps/trips/settings.yaml': "acl: { rights: { editor: ['*'] } }\n",
  'apps/trips/blocks/trip.yaml': definition,
  'apps/trips/blocks/trip.html': '<h1>A trip</h1><p class="guess">{way}</p>{_pages}{_edit}{_delete}',
  'apps/trips/blocks/trip.js': `export function validate({ request, invalid }) {
  if (Number(request.get('days')) > 30) invalid('days', 'At most 30 days');
}
export function guess(context) {
  const fields = Object.entries(context.request.form);
  context.guessed = fields.filter(([name]) => /^stops:\\d+:town$/.test(name)).map(([, town]) => town).join(' to ');
}
export const way = (context) => context.guessed ?? '';
`,
  'apps/members/settings.yaml': 'acl: { rights: { reader: [authors], author: [authors] } }\n',
  'apps/members/blocks/trip.yaml': definition
    .replace('id: trip', 'id: members-trip')
    .replace('  way: BASIC\n', '')
    .replace('  guess: { type: ACTION, label: Guess the way }\n', '')
    .replace(', guess', ''),
  'apps/members/blocks/trip.html': '<h1>A trip</h1>{_pages}',
  'apps/trips/blocks/elsewhere.yaml': 'title: Elsewhere\nview: { id: elsewhere, with_theme: true }\n',
  'apps/trips/blocks/elsewhere.html': '<h1>Elsewhere</h1>',
};
