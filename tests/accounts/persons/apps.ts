import type { ThemeCopy } from '../../support/theme';

/** Forms with addresses of persons, in two apps. */
export async function personApps(copy: ThemeCopy): Promise<void> {
  const acl = "acl: { rights: { submitter: ['*'], editor: [editors], author: [authors] } }\n";
  await copy.write(
    'main/apps/cards/settings.yaml',
    `history: true\ndebug: true\n${acl}mail: { to: ['*@example.org'] }\n`,
  );
  await copy.write(
    'main/apps/cards/blocks/card.yaml',
    `self_service: [view, edit]
notify: { to: office@example.org, subject: "A card for {name}", reply_to: "{email}" }
elements:
  name: { type: TEXT, label: Name }
  email: { type: EMAIL, label: E-mail, person: email, required: true }
  cv: { type: FILE, label: CV }
  told: { type: BASIC, mode: COMPUTED_ON_SAVE }
`,
  );
  await copy.write('main/apps/cards/blocks/card.html', '{name} {email} {cv} {_save}');
  await copy.write(
    'main/apps/cards/blocks/card.js',
    `export function told({ record, app, jobs }) {
  const email = String(record.get('email'));
  app.log('made for ' + email);
  if (record.get('name') === 'later') jobs.add('card/later', { to: email }, { delay: 3600 });
  return 'told ' + email;
}
export function later() {}
export function on_delete() { throw new Error('records of cards are not deleted by people'); }
export function fails({ request }) { throw new Error('cannot write to ' + request.form.email); }
`,
  );
  await copy.write(
    'main/apps/cards/blocks/signup.yaml',
    `drafts: true
receipt: { to: email, subject: "For {email}", confirm: true }
elements: { email: { type: EMAIL, person: email }, day: DATE, doc: FILE }
`,
  );
  await copy.write(
    'main/apps/cards/blocks/course.yaml',
    'anonymize: [email]\nreceipt: { to: email, confirm: true }\nelements: { email: EMAIL }\n',
  );
  await copy.write('main/apps/cards/blocks/course.html', '{email} {_save}');
  await copy.write('main/apps/cards/blocks/signup.html', '{email} {day} {doc} {_save}');
  await copy.write(
    'main/apps/cards/blocks/broken.yaml',
    'elements: { email: { type: EMAIL, person: email }, fails: ACTION }\n',
  );
  await copy.write('main/apps/cards/blocks/broken.html', '{email} {fails}');
  await copy.write(
    'main/apps/cards/blocks/broken.js',
    "export function on_display({ request, app }) { if (request.query.said) app.log('looked at by ' + request.query.said); }\nexport function fails({ request, app }) { app.log('sent by ' + request.form.email); throw new Error('cannot write to ' + request.form.email); }\n",
  );

  await copy.write('main/apps/rooms/settings.yaml', `history: true\n${acl}`);
  await copy.write(
    'main/apps/rooms/blocks/booking.yaml',
    `keep: 30 days
anonymize: [name]
limit: 2
waiting_list: true
elements:
  name: TEXT
  email: { type: EMAIL, person: email, index_type: keyword }
  nights: { type: NUMBER, index_type: field }
`,
  );
  await copy.write('main/apps/rooms/blocks/booking.html', '{name} {email} {nights} {_save}');
  await copy.write(
    'main/apps/rooms/blocks/visit.yaml',
    'keep: 4 weeks\nelements: { email: { type: EMAIL, person: email }, doc: FILE }\n',
  );
  await copy.write('main/apps/rooms/blocks/visit.html', '{email} {doc} {_save}');
  await copy.write(
    'main/apps/rooms/blocks/team.yaml',
    'elements: { title: TEXT, members: { type: REPEAT, elements: { who: TEXT, email: { type: EMAIL, person: email } } } }\n',
  );
  await copy.write(
    'main/apps/rooms/blocks/seat.yaml',
    'limit: 1\nwaiting_list: true\nelements: { email: { type: EMAIL, person: email } }\n',
  );
  await copy.write('main/apps/rooms/blocks/seat.html', '{email} {_save}');
  await copy.write('main/apps/rooms/blocks/team.html', '{title} {members} {_save}');
}
