/** An app with repeated groups: files of a theme by path. */
export const repeatApp: Record<string, string> = {
  'apps/party/settings.yaml': "acl:\n  rights:\n    editor: ['*']\n",
  'apps/party/blocks/party.yaml': `title: 'Party of {host}'
elements:
  host: { type: TEXT, label: Host, required: true }
  guests:
    type: REPEAT
    label: Guests
    help: All who come
    min: 1
    max: 4
    entry_label: Guest
    add_label: Add a guest
    elements:
      name: { type: TEXT, label: Name, required: true, maxlength: 20 }
      child: { type: BOOLEAN, label: Child }
      age: { type: NUMBER, label: Age, min: 0, required: true, show_if: { child: true } }
      meal: { type: SELECT, label: Meal, default: fish }
      notes: { type: MARKDOWN, label: Notes }
  links:
    type: REPEAT
    label: Links
    show_if: { host: { not: Nemo } }
    elements: { url: URL }
`,
  'apps/party/blocks/party.html': '<h1>Party</h1>{host}{guests}{links}{_save}{_edit}',
  'apps/party/blocks/party.js': `export function guests_meal_options() { return ['fish', { value: 'veg', label: 'No <meat>' }]; }
export function validate(context) {
  if (context.request.form['guests:0:name'] === 'Loki') context.invalid('guests.0.name', 'Not Loki');
}

`,
};
