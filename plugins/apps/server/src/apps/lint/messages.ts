import { isAppsError } from '../../common/errors';
import { didYouMean } from '../../common/text';
import { fieldsOf, listedOptions, textKeys } from '../elements';
import { catalogueFiles } from '../locales';
import type { App, Block, ElementDefinition } from '../types';
import { readYaml, type YamlNode } from '../yaml';
import { isMapping } from '../yaml-schema';
import type { Finding, Report } from './problem';

type Elements = ReadonlyMap<string, ElementDefinition>;

/** Warns of messages for texts of definitions that there are not: they would never be shown. */
export function checkMessages({ folder, blocks }: App, report: Report): void {
  for (const file of catalogueFiles(folder.files)) {
    const root = yamlOf(file);
    if (!root || !isMapping(root.value) || root.value.blocks === undefined) continue;
    eachKey(root.child('blocks'), 'block', [...blocks.keys()], report, (at, id) => {
      const block = blocks.get(id);
      if (block && !block.error) checkBlock(at, block, report);
    });
  }
}

/** A file that cannot be read is reported as such. */
function yamlOf(file: Parameters<typeof readYaml>[0]): YamlNode | null {
  try {
    return readYaml(file);
  } catch (error) {
    if (isAppsError(error)) return null;
    throw error;
  }
}

function checkBlock(
  at: YamlNode,
  { definition: { pages, elements, builtIn, states, receipt } }: Block,
  report: Report,
): void {
  eachKey(at, 'text', ['title', 'closed', 'full', 'receipt', 'states', 'pages', 'elements'], report, (inner, key) => {
    if (key === 'receipt') eachKey(inner, 'text', receipt ? ['subject'] : [], report);
    if (key === 'pages')
      eachKey(
        inner,
        'page',
        (pages ?? []).map((_, index) => String(index + 1)),
        report,
      );
    if (key === 'states') eachKey(inner, 'state', [...(states?.all.keys() ?? [])], report);
    if (key === 'elements') checkElements(inner, new Map([...builtIn, ...elements]), report);
  });
}

function checkElements(at: YamlNode, elements: Elements, report: Report): void {
  eachKey(at, 'element', [...elements.keys()], report, (inner, name) => {
    const element = elements.get(name);
    if (element) checkElement(inner, element, report);
  });
}

function checkElement(at: YamlNode, element: ElementDefinition, report: Report): void {
  eachKey(at, 'text', [...textKeys, 'options', 'elements'], report, (inner, key) => {
    if (key === 'options')
      eachKey(
        inner,
        'option',
        (listedOptions(element) ?? []).map(({ value }) => String(value)),
        report,
      );
    if (key === 'elements') checkElements(inner, fieldsOf(element) ?? new Map(), report);
  });
}

/** Calls `inside` with each known key of a mapping, and reports the others. */
function eachKey(
  at: YamlNode,
  what: string,
  known: readonly string[],
  report: Report,
  inside: (value: YamlNode, key: string) => void = () => {},
): void {
  if (!isMapping(at.value)) return;
  for (const key of Object.keys(at.value)) {
    if (known.includes(key)) inside(at.child(key), key);
    else report(unused(at.key(key), what, key, known));
  }
}

const unused = (at: YamlNode, what: string, key: string, known: readonly string[]): Finding => ({
  severity: 'warning',
  position: at.position,
  message: `This message is never shown: there is no ${what} "${key}"${didYouMean(key, known)}`,
  cure: known.length > 0 ? `Known are: ${known.join(', ')}.` : undefined,
});
