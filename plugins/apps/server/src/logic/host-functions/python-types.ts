import { hostFunctions } from './table';

const introduction = `# Types of the \`context\` that every function of a block's logic gets, for Pyright and Pylance: built-in names, so that
# logic imports nothing (docs/reference/logic.md#types). Made from the table of host functions.

from typing import Any, Iterator, Literal
`;

/** A class of the stub: its text, and what the sandbox's prelude gives it beside the host functions. */
interface PythonClass {
  name: string;
  base?: string;
  doc: string;
  /** Attributes and methods, without the \`...\` of methods. */
  members: readonly string[];
}

const url = 'def absolute_url(self) -> str';

const requestMembers = [
  'method: str',
  'url: str',
  'URL: str',
  'path: str',
  'query: dict[str, Any]',
  'form: dict[str, Any]',
  'body: Any',
  'headers: dict[str, str]',
  'def get(self, name: str, default: Any = None) -> Any',
  'def has(self, name: str) -> bool',
  'def has_key(self, name: str) -> bool',
  'def keys(self) -> list[str]',
  'def __getitem__(self, name: str) -> Any',
  'def __contains__(self, name: object) -> bool',
];

const itemMembers = [
  'type: str',
  'id: str',
  'documentId: str | None',
  'title: str',
  'url: str',
  'path: str',
  'locale: str | None',
  url,
  'def absolute_url_path(self) -> str',
  'def getURL(self) -> str',
  'def getPath(self) -> str',
  'def get(self, name: str, default: Any = None) -> Any',
  'def __getitem__(self, name: str) -> Any',
  'def __contains__(self, name: object) -> bool',
  'def __getattr__(self, field: str) -> Any',
];

const classes: readonly PythonClass[] = [
  {
    name: 'Context',
    doc: 'What a function gets. Other properties may be set on it; the layout sees them.',
    members: [
      'app: App',
      'block: Block',
      'record: Record | None',
      'request: Request',
      'parent_request: ParentRequest | None',
      'portal: Portal',
      'now: str',
      'content: Content',
      'api: Api',
      'mail: Mail',
      'jobs: Jobs',
      'visitor: Visitor | None',
      'params: dict[str, Any]',
      'modules: Any',
      'def escape(self, text: object) -> str',
      'def __getattr__(self, name: str) -> Any',
      'def __setattr__(self, name: str, value: Any) -> None',
    ],
  },
  {
    name: 'RecordContext',
    base: 'Context',
    doc: 'What `on_save`, `on_delete`, `record_id` and computed elements get: there is a record.',
    members: ['record: Record'],
  },
  {
    name: 'App',
    doc: 'The current app, or another one of the site.',
    members: [
      'id: str',
      'url: str',
      'settings: dict[str, Any]',
      'options: dict[str, Any]',
      'blocks: list[Block]',
      'indexes: list[str]',
      'acl: Acl',
      '@property\ndef messages(self) -> list[str]',
      'def get_block(self, block_id: str) -> Block | None',
      url,
    ],
  },
  {
    name: 'Acl',
    doc: 'The rights of the requester in the app.',
    members: [
      'def current_user(self) -> str | None',
      'def current_user_groups(self) -> list[str]',
      "def has_access_right(self, access_right: Literal['reader', 'author', 'editor', 'submitter', 'owner']) -> bool",
      'def has_role(self, role_id: str) -> bool',
      'def roles(self) -> list[str]',
      'def is_manager(self) -> bool',
    ],
  },
  {
    name: 'Block',
    doc: 'A block of an app; equal to its id.',
    members: ['id: str', 'url: str', url],
  },
  {
    name: 'Record',
    doc: 'A record: its items are keys and, unless a method has the name, attributes. What is set is saved at the end.',
    members: [
      '@property\ndef id(self) -> str',
      '@property\ndef url(self) -> str',
      url,
      'def get(self, name: str, default: Any = None) -> Any',
      'def pop(self, name: str, *default: Any) -> Any',
      'def setdefault(self, name: str, default: Any = None) -> Any',
      'def keys(self) -> list[str]',
      'def values(self) -> list[Any]',
      'def items(self) -> list[tuple[str, Any]]',
      'def get_item(self, name: str, default: Any = None) -> Any',
      'def set_item(self, name: str, value: Any) -> None',
      'def has_item(self, name: str) -> bool',
      'def remove_item(self, name: str) -> None',
      'def set_block(self, block_id: str) -> Record',
      'def __getitem__(self, name: str) -> Any',
      'def __contains__(self, name: object) -> bool',
      'def __iter__(self) -> Iterator[str]',
      'def __len__(self) -> int',
      'def __getattr__(self, item: str) -> Any',
      'def __setattr__(self, item: str, value: Any) -> None',
    ],
  },
  { name: 'Creator', doc: 'Who has created a record.', members: ['id: str', 'username: str'] },
  {
    name: 'Places',
    doc: 'What a block says of its places.',
    members: ['limit: int | None', 'taken: int', 'left: int | None', 'waiting: int', 'state: str'],
  },
  { name: 'Records', base: 'list[Record]', doc: 'A page of records.', members: ['cursor: str | None'] },
  { name: 'ParentRequest', doc: 'The request of the page that embeds the block.', members: requestMembers },
  { name: 'Request', base: 'ParentRequest', doc: 'The current request.', members: ['response: Response'] },
  { name: 'Response', doc: 'What the answer will say.', members: [] },
  { name: 'Mail', doc: 'Mail of the app, to addresses that its settings allow.', members: [] },
  {
    name: 'FetchAnswer',
    doc: 'What a web service has answered.',
    members: ['status: int', 'ok: bool', 'headers: dict[str, str]', 'text: str', '@property\ndef json(self) -> Any'],
  },
  { name: 'Jobs', doc: 'Calls of functions that are made later.', members: [] },
  { name: 'Visitor', doc: 'A visitor, with or without a login.', members: ['id: str | None'] },
  {
    name: 'Portal',
    doc: 'The site.',
    members: [
      ...['id: str', 'title: str', 'url: str', 'theme: str', 'locale: str | None', 'time_zone: str', url],
      "def day_begin(self, day: Any = '', days: int = 0) -> str",
    ],
  },
  { name: 'ContentItem', doc: 'A content item; its fields are attributes and keys.', members: itemMembers },
  {
    name: 'Content',
    base: 'ContentItem',
    doc: 'The current content item: what is assigned to its fields is stored at the end of the request.',
    members: ['def __setattr__(self, field: str, value: Any) -> None'],
  },
  {
    name: 'Api',
    doc: "The host's content, with the rights of the requester.",
    members: ['user: User', 'content: ContentApi', 'portal: PortalApi'],
  },
  { name: 'PortalApi', doc: "Rapido's way to the site.", members: ['def get(self) -> Portal'] },
  { name: 'ContentApi', doc: 'Content as apps made for Rapido use it.', members: [] },
  {
    name: 'Documents',
    doc: "Strapi's documents of one content type; parameters as there, as a dict or by name.",
    members: [],
  },
  {
    name: 'User',
    doc: 'The requester; falsy, and equal to None, for anonymous.',
    members: [
      'def is_anonymous(self) -> bool',
      'def get_current(self) -> User',
      'def getProperty(self, name: str, default: Any = None) -> Any',
      'def getUserName(self) -> str | None',
      'def getId(self) -> str | None',
      'def get(self, name: str, default: Any = None) -> Any',
      'def __getitem__(self, name: str) -> Any',
      'def __bool__(self) -> bool',
      'def __getattr__(self, field: str) -> Any',
    ],
  },
];

/** The text of `python/__builtins__.pyi`. */
export function pythonTypes(): string {
  return [introduction, ...classes.map(classText)].join('\n\n');
}

/** Names that objects of each class have, without special methods such as `__len__`. */
export function pythonNames(): Record<string, string[]> {
  const nameOf = (member: string) => /^(?:@property\ndef |def )?(\w+)/.exec(member)?.[1] ?? '';
  const named = ({ name, members }: PythonClass): [string, string[]] => {
    const all = [...members, ...callsOf(name).flatMap((call) => call.members)].map(nameOf);
    return [name, all.filter((one) => !one.startsWith('__'))];
  };
  return Object.fromEntries(classes.map(named));
}

/** What host functions add to a class, with the sentence of each. */
function callsOf(name: string): { doc: string; members: readonly string[] }[] {
  return Object.values(hostFunctions).flatMap(({ doc, python }) => {
    const members = python?.[name];
    return members ? [{ doc, members }] : [];
  });
}

function classText({ name, base, doc, members }: PythonClass): string {
  const own = members.map((member) => memberText(member));
  const calls = callsOf(name).flatMap(({ doc, members }) => members.map((member) => memberText(member, doc)));
  return [`class ${name}${base ? `(${base})` : ''}:`, `    """${doc}"""`, '', ...own, ...calls, ''].join('\n');
}

/** A member, indented; a method with a doc string as its body. */
function memberText(member: string, doc?: string): string {
  const lines = member.split('\n').map((line) => `    ${line}`);
  if (!member.includes('def ')) return lines.join('\n');
  return doc === undefined ? `${lines.join('\n')}: ...` : `${lines.join('\n')}:\n        """${doc}"""\n        ...`;
}
