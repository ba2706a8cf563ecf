import { didYouMean } from '../did-you-mean';

const words = (text: string) => text.split(' ');

const url = 'id url absolute_url';

/** What the objects of `context` offer, by the names that logic usually gives them (shared/context.d.ts). */
const members: Record<string, string[]> = {
  context: words('app block record request parent_request portal content api params modules get_app rapido escape'),
  app: words(
    `${url} settings blocks indexes acl log messages add_message create_record get_record delete_record records count search get_block refresh`,
  ),
  record: words(`${url} uid get set items save inc reindex set_block display`),
  acl: words('current_user current_user_groups has_access_right has_role roles is_manager'),
  request: words('method url URL path query form body headers get has response'),
  response: words('status set_header setHeader setStatus redirect'),
  portal: words(`${url} title theme get`),
  content: words(`${url} type documentId title path absolute_url_path update get`),
  api: words('documents user content'),
};

/** Characters of a line that are looked at. */
const MAX_LINE = 1_000;

const member = new RegExp(`\\b(${Object.keys(members).join('|')})\\.(?=([A-Za-z_]\\w{0,60}))`, 'g');

/**
 * `, did you mean "get_record"?` for a line of logic that has failed: the first member of an object of `context` that does
 * not exist and is close to one that does. Only a guess, for what fails on such a line may be something else.
 */
export function misspeltMember(line: string): string {
  for (const [, object = '', name = ''] of line.slice(0, MAX_LINE).matchAll(member)) {
    const known = members[object] ?? [];
    const hint = known.includes(name) ? '' : didYouMean(name, known);
    if (hint !== '') return hint.replace('"', `"${object}.`);
  }
  return '';
}
