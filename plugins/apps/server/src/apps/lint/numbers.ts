import { isAppsError } from '../../common/errors';
import type { App, Block } from '../types';
import { readYaml, type YamlNode } from '../yaml/yaml';
import type { Finding } from './problem';

/** Keys of an element whose values are compared with what people choose or see. */
const COMPARED = ['options', 'default', 'show_if'];

/** Numbers that are reported for one block. */
const MAX_FINDINGS = 20;

/**
 * Numbers of a definition that are written in another way than they are read, such as `01067` and `1.10`: YAML reads 1067 and
 * 1.1, and that is what is shown and stored.
 */
export function spellingFindings({ folder }: Pick<App, 'folder'>, block: Pick<Block, 'id'>): Finding[] {
  const file = definitionOf({ folder }, block);
  if (!file) return [];
  const lines = file.text.split(/\r\n|\r|\n/);
  return comparedNumbers(file)
    .flatMap((at): Finding[] => {
      const { line = 1, column = 1 } = at.position;
      const written = /^[^\s,\]}#&*!]*/.exec(lines[line - 1]?.slice(column - 1) ?? '')?.[0] ?? '';
      if (written === '' || written === String(at.value)) return [];
      const message = `${at.name}: "${written}" is the number ${at.value}, which is shown and stored`;
      return [{ severity: 'warning', position: at.position, message, cure: `Put a text in quotes: "${written}".` }];
    })
    .slice(0, MAX_FINDINGS);
}

/** Elements whose pictures may have more pixels than the host takes. @param imagePixels `limits.imagePixels` of the host */
export function pixelFindings(app: Pick<App, 'folder'>, block: Pick<Block, 'id'>, imagePixels: number): Finding[] {
  const file = definitionOf(app, block);
  return elementsOf(file)
    .flatMap((element) => childrenOf(element, 'max_pixels'))
    .filter(({ value }) => typeof value === 'number' && value > imagePixels)
    .map(({ name, position, value }): Finding => {
      const message = `${name}: ${value} is more than "limits.imagePixels" of this host, which takes pictures of ${imagePixels} pixels`;
      return { severity: 'warning', position, message, cure: `Write ${imagePixels} or less, or raise the limit.` };
    })
    .slice(0, MAX_FINDINGS);
}

type YamlFile = Parameters<typeof readYaml>[0];

const definitionOf = ({ folder }: Pick<App, 'folder'>, { id }: Pick<Block, 'id'>): YamlFile | undefined =>
  folder.files.get(`blocks/${id}.yaml`);

/** The numbers in the compared keys of all elements. */
function comparedNumbers(file: YamlFile): YamlNode[] {
  return elementsOf(file).flatMap((element) => {
    const { type } = (element.value ?? {}) as { type?: unknown };
    const keys = COMPARED.filter((key) => !(key === 'default' && type === 'NUMBER'));
    return keys.flatMap((key) => childrenOf(element, key)).flatMap(numbersIn);
  });
}

/** All elements of a definition; none of one that is absent, or cannot be read, which is reported as such. */
function elementsOf(file: YamlFile | undefined): YamlNode[] {
  try {
    return file ? elementsIn(readYaml(file)) : [];
  } catch (error) {
    if (isAppsError(error)) return [];
    throw error;
  }
}

/** The values inside a mapping or list. @param only the one of this key, if there is one */
function childrenOf(at: YamlNode, only?: string): YamlNode[] {
  if (typeof at.value !== 'object' || at.value === null) return [];
  const keys = Object.keys(at.value).filter((key) => only === undefined || key === only);
  return keys.map((key) => at.child(Array.isArray(at.value) ? Number(key) : key));
}

/** The elements below a node, those of groups and entries too. */
function elementsIn(at: YamlNode): YamlNode[] {
  const own = childrenOf(at, 'elements').flatMap((elements) => childrenOf(elements));
  return own.flatMap((element) => [element, ...elementsIn(element)]);
}

const numbersIn = (at: YamlNode): YamlNode[] =>
  typeof at.value === 'number' ? [at] : childrenOf(at).flatMap(numbersIn);
