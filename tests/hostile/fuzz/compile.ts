import { frames, nestings, pieces } from './compile-pieces';
import { random, shapes } from './grow';

/** A generated logic file. */
export interface Text {
  language: keyof typeof pieces;
  /** The shape and the parts of it. */
  name: string;
  text: string;
}

/** `count` texts of up to `size` characters; equal for equal seeds. */
export function* texts(seed: number, count: number, size: number): Generator<Text> {
  const next = random(seed);
  const pick = <T>(list: readonly T[]) => list[Math.floor(next() * list.length)] as T;
  const nested = (language: keyof typeof pieces) => {
    const levels = [pick(nestings[language]), pick(nestings[language])] as const;
    const [before, after] = pick(language === 'py' ? [['', ''] as const] : frames);
    const each = levels[0].join('').length + levels[1].join('').length;
    const depth = Math.min(pick([12, 30, 100, 400, 2_000, 100_000]), Math.floor((size - 20) / each));
    const open = (levels[0][0] + levels[1][0]).repeat(depth);
    const close = pick([true, false]) ? (levels[1][1] + levels[0][1]).repeat(depth) : '';
    return {
      name: `nested ${depth}: ${JSON.stringify([before, ...levels, close !== ''])}`,
      text: `${before}${open}1${close}${after}`,
    };
  };
  for (let index = 0; index < count; index += 1) {
    const language = pick(['js', 'ts', 'ts', 'py'] as const);
    if (pick([true, true, false])) {
      yield { language, ...nested(language) };
      continue;
    }
    const parts = [pick(pieces[language]), pick(pieces[language]), pick(pieces[language])] as const;
    const [name, shape] = pick(Object.entries(shapes));
    yield { language, name: `${name}: ${JSON.stringify(parts)}`, text: shape(parts, size).slice(0, size) };
  }
}
