const definition = `title: 'Album {title}'
elements:
  title: { type: TEXT, label: Title, required: true }
  cover: { type: FILE, label: Cover, public: true }
  photos:
    type: REPEAT
    label: Photos
    entry_label: Photo
    max: 4
    elements:
      caption: { type: TEXT, label: Caption, required: true }
      image: { type: IMAGE, label: Image, max_size: 100 kB, public: true, folder: albums }
      papers: { type: FILE, label: Papers, multiple: true, public: true }
`;

/** An app whose repeated group has files, as a form in one piece and as one of two pages: files of a theme by path. */
export const albumApp: Record<string, string> = {
  'apps/album/settings.yaml': "acl:\n  rights:\n    editor: ['*']\n",
  'apps/album/blocks/album.yaml': definition,
  'apps/album/blocks/album.html': '<h1>Album</h1>{title}{cover}{photos}{_save}{_edit}{_delete}',
  'apps/album/blocks/album.js': `export function validate(context) {
  if (context.request.get('title') === 'Refused') context.invalid('photos.0.image', 'Not this one');
}
export function on_save(context) {
  context.record.set('urls', (context.record.get('photos') || []).map(({ image }) => image && image.url));
}
`,
  'apps/album/blocks/steps.yaml': `${definition}  more: { type: BOOLEAN, label: More, default: true }
pages:
  - { title: Pictures, elements: [photos, more] }
  - { title: Name, elements: [title, cover] }
`,
  'apps/album/blocks/steps.html': '<h1>Steps</h1>{_pages}{_edit}',
};
