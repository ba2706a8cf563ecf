/**
 * Names of the inputs that logic has looked at, as answers of the sandbox carry them (docs/decisions/exact-renderings.md):
 * `clock`, `random`, `user`, `visitor`, `acl`, `groups`, and of `request` and `parent_request` the parts below,
 * `request.query.page` for instance.
 */

/** Names of one session, and characters of each; beyond, `everything` stands for the rest. */
export const maxLooked = { names: 200, length: 200 };

/** Anything may have been looked at. */
export const everything = 'everything';

const NAME =
  /^(?:clock|random|user|visitor|acl|groups|everything|(?:parent_)?request\.(?:url|path|method|body|(?:query|headers|form)(?:\.[\s\S]*)?))$/;

/** Whether the text is such a name. */
export const isLookedName = (text: string): boolean => text.length <= maxLooked.length && NAME.test(text);
