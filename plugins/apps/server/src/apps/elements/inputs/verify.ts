import { z } from 'zod';
import type { ElementDefinition, OwnSettings, Verify } from '../../types';
import { check } from '../../yaml/check';
import { describe, isMapping, mapping } from '../../yaml/schema';
import type { YamlNode } from '../../yaml/yaml';
import type { Settings, SharedSettings } from './settings';

const SECRET = /^[A-Za-z0-9_-]{1,100}$/;
const HEADER = /^[A-Za-z0-9][A-Za-z0-9-]{0,99}$/;
const VISIBLE = /^[\x21-\x7e]{1,50}$/;

const matching = (pattern: RegExp, wanted: string) => {
  const wrong = { error: ({ input }: { input?: unknown }) => `This must be ${wanted}, not ${describe(input ?? null)}` };
  return check(z.string(wrong).regex(pattern, wrong));
};

/** The name of a secret of the configuration (`fetch.secrets`). */
export const secretName = matching(SECRET, 'the name of a secret: letters, digits, "_" and "-"');

const verifyMapping = mapping({
  secret: secretName,
  header: matching(HEADER, 'the name of a header'),
  prefix: matching(VISIBLE, 'at most 50 visible characters'),
});

/** How the requests of a webhook are signed that calls the element (docs/reference/webhooks.md#verify). */
export const verify: SharedSettings = {
  verify: {
    shared: 'verify',
    check: check(verifyMapping.schema, (value, at): Verify => {
      const { secret, header, prefix } = verifyMapping.read(value, at);
      if (secret === undefined) return at.fail('"verify" needs a "secret"');
      if (header === undefined) {
        if (prefix !== undefined) return at.child('prefix').fail('"prefix" stands before the digits of a "header"');
        return { secret, hex: null };
      }
      return { secret, hex: { header: header.toLowerCase(), prefix: prefix ?? '' } };
    }),
  },
};

/** DefinitionError for keys that an element does not take beside `verify`, because it is called by webhooks alone. */
export function checkAlone<Own extends OwnSettings>(
  definition: ElementDefinition<Own>,
  at: YamlNode,
  settings: Settings<Own>,
): void {
  const isGiven = isMapping(at.value) && Object.hasOwn(at.value, 'verify');
  // Its author may have begun to restrict the element.
  if (isGiven && !definition.verify) at.child('verify').fail('"verify" needs a "secret"');
  if (!definition.verify) return;
  const isGivenToo = (setting: Settings[string]) =>
    ('own' in setting ? definition.settings[setting.own] : definition[setting.shared]) !== undefined;
  const [other] = Object.entries<Settings[string]>(settings).filter(
    ([key, one]) => key !== 'verify' && isGivenToo(one),
  );
  if (other) at.child(other[0]).fail(`An element with "verify" is called by webhooks alone and takes no "${other[0]}"`);
}
