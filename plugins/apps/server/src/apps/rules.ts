import type { AppsError, SourcePosition } from '../errors';
import { isAppsError } from '../errors';
import { type RulePlace, rulePlaces, selectorProblem } from '../layouts';
import { type ThemeFile, trimSlashes } from '../sites';
import { compilePattern, type PatternTest } from './elements/pattern';
import { type BlockReference, blockReference } from './embed-reference';
import { readYaml, type YamlPlace } from './yaml';
import { type Check, describe, isMapping, mapping, text } from './yaml-schema';

/** A theme rule, checked (contract, section 11): puts a block into every page of the site that it is meant for. */
export interface ThemeRule {
  place: RulePlace;
  /** CSS selector of the elements of the page that the place is seen from. */
  target: string;
  include: BlockReference;
  /** CSS selector in the included page. */
  select: string;
  /** Whether the rule is meant for a page, by its path below the site; null: for all. */
  matchesPath: PatternTest | null;
  /** CSS selector that the page must match; null: no condition. */
  ifContent: string | null;
  position: SourcePosition;
}

export interface ThemeRules {
  rules: ThemeRule[];
  /** DefinitionErrors of rules.yaml; a broken rule is left out, the others are applied. */
  errors: AppsError[];
}

const selector: Check<string> = (at) => {
  const problem = selectorProblem(text(at));
  return problem === null ? text(at) : at.fail(`This is not a CSS selector: ${problem}`);
};

const include: Check<BlockReference> = (at) =>
  blockReference(text(at)) ??
  at.fail(`This must be a block's address, such as /@@apps/rating/blocks/rate, not ${describe(at.value)}`);

/** Wildcards of one pattern, at most. */
const MAX_WILDCARDS = 8;

/** `*` stands for anything without a slash, `**` for anything, `?` for one character; the slash at the end is no matter. */
const glob: Check<PatternTest> = (at) => {
  const pattern = text(at);
  const parts = pattern.length > 400 ? [] : `/${trimSlashes(pattern)}`.split(/(\*+|\?)/);
  if (pattern.length > 400 || parts.length > 2 * MAX_WILDCARDS + 1) {
    return at.fail(`A pattern has at most 400 characters and ${MAX_WILDCARDS} wildcards`);
  }
  const source = parts.map((part) => wildcards[part.slice(0, 2)] ?? part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  // Not a RegExp: that would try all ways of sharing a visitor's long path out among the wildcards.
  return compilePattern(`${source.join('')}/?`);
};

const wildcards: Record<string, string> = { '*': '[^/]*', '**': '.*', '?': '[^/]' };

const places = Object.fromEntries(rulePlaces.map((place) => [place, selector])) as Record<RulePlace, Check<string>>;

/** Keys of a rule. */
const schema = mapping({ ...places, include, select: selector, if_path: glob, if_content: selector });

const rule: Check<ThemeRule> = (at) => {
  const given = schema(at);
  const [place, ...more] = rulePlaces.filter((name) => given[name] !== undefined);
  if (!place || more.length > 0) return at.fail(`A rule needs exactly one of ${rulePlaces.join(', ')}`);
  if (!given.include) return at.fail('A rule needs an "include"');
  return {
    place,
    target: given[place] as string,
    include: given.include,
    select: given.select ?? 'form',
    matchesPath: given.if_path ?? null,
    ifContent: given.if_content ?? null,
    position: at.position,
  };
};

/** Characters of all selectors of a theme, at most. */
const MAX_SELECTORS = 20_000;

/** Refuses the rules from which on the selectors are too long together, before any of them is looked at. */
function selectorLimit(): (at: YamlPlace) => void {
  let length = 0;
  return (at) => {
    const { value } = at;
    for (const key of isMapping(value) ? [...rulePlaces, 'select', 'if_content'] : []) {
      const given = isMapping(value) ? value[key] : undefined;
      if (typeof given === 'string') length += given.length;
    }
    if (length > MAX_SELECTORS) at.fail(`The selectors of a theme have at most ${MAX_SELECTORS} characters together`);
  };
}

/** Rules of a theme, at most: every page is searched for each. Those beyond are left out. */
const MAX_RULES = 200;

const kept = new WeakMap<ThemeFile, ThemeRules>();

/** Reads a theme's rules.yaml, once for each file object. */
export function readRules(file: ThemeFile): ThemeRules {
  let rules = kept.get(file);
  if (!rules) {
    rules = checkedRules(file);
    kept.set(file, rules);
  }
  return rules;
}

function checkedRules(file: ThemeFile): ThemeRules {
  const found: ThemeRules = { rules: [], errors: [] };
  const attempt = <T>(work: () => T): T | undefined => {
    try {
      return work();
    } catch (error) {
      if (!isAppsError(error)) throw error;
      found.errors.push(error);
      return undefined;
    }
  };
  const entries = attempt(() => entriesOf(readYaml(file))) ?? [];
  attempt(() => entries[MAX_RULES]?.fail(`A theme has at most ${MAX_RULES} rules`));
  const limit = selectorLimit();
  for (const at of entries.slice(0, MAX_RULES)) {
    const checked = attempt(() => {
      limit(at);
      return rule(at);
    });
    if (checked) found.rules.push(checked);
  }
  return found;
}

function entriesOf(root: YamlPlace): YamlPlace[] {
  if (root.value === null) return [];
  if (!Array.isArray(root.value)) return root.fail(`The file must be a list of rules, not ${describe(root.value)}`);
  return root.value.map((_, index) => root.child(index));
}
