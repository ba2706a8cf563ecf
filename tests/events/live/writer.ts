import { expect } from 'vitest';
import type { RecordDetail } from '../../../plugins/apps/shared/admin-api';
import type { Host } from '../../support/host';
import { send } from '../../support/send';
import type { Stage } from '../../support/stage';

export interface Comment {
  article: string;
  text: string;
  stars: number;
  other: string;
}

/** A write, with the comments that it changes: before and after; null where there is none. */
export interface Write {
  way: string;
  changes: { before: Comment | null; after: Comment | null }[];
}

const articles = ['a', 'b', 'c', 'd'];
const texts = ['a great text', 'a text', `long ${'words '.repeat(200)}`, `great ${'words '.repeat(200)}`];

/** Numbers from 0 that look random; the same for the same seed. */
export function dice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

const panel = '/apps/sites/site/apps/talk/record';

/** Writes comments at random, by all ways there are, and remembers what is stored. */
export class Writer {
  private readonly stored = new Map<string, Comment>();
  private last = 0;

  constructor(
    private readonly stage: Stage,
    private readonly hosts: readonly Host[],
    private readonly roll: (sides: number) => number,
    private readonly token: string,
  ) {}

  async write(): Promise<Write> {
    const ways = [
      'create',
      'form',
      'bulk',
      'panelCreate',
      'change',
      'change',
      'move',
      'panelChange',
      'delete',
    ] as const;
    const way = this.pick(ways);
    const known = [...this.stored.keys()];
    if (known.length === 0 || ['create', 'form', 'bulk', 'panelCreate'].includes(way)) return this.create(way);
    const id = this.pick(known);
    const before = this.stored.get(id) as Comment;
    if (way === 'delete') {
      await this.ask(`DELETE record/${id}`);
      this.stored.delete(id);
      return { way, changes: [{ before, after: null }] };
    }
    const change =
      way === 'move'
        ? { article: this.pick(articles) }
        : this.pick([{ other: String(this.roll(1_000)) }, { text: this.pick(texts) }, { stars: this.roll(6) }]);
    const after = { ...before, ...change };
    if (way === 'panelChange') await this.changeInPanel(id, change);
    else await this.ask(`PATCH record/${id}`, change);
    this.stored.set(id, after);
    return { way, changes: [{ before, after }] };
  }

  private async create(way: string): Promise<Write> {
    const made = Array.from({ length: way === 'bulk' ? 2 + this.roll(4) : 1 }, () => this.comment());
    const ids = made.map(() => `r${++this.last}`);
    const records = made.map((comment, at) => ({ id: ids[at] as string, ...comment }));
    if (way === 'bulk') await this.ask('POST records', records);
    else if (way === 'form') await this.sendForm(records[0] as Comment & { id: string });
    else if (way === 'panelCreate') await this.inPanel(`POST ${panel}`, { items: { block: 'comment', ...records[0] } });
    else await this.ask(`PUT record/${ids[0]}`, made[0]);
    if (way !== 'form') for (const [at, comment] of made.entries()) this.stored.set(ids[at] as string, comment);
    return { way, changes: made.map((after) => ({ before: null, after })) };
  }

  private comment(): Comment {
    return { article: this.pick(articles), text: this.pick(texts), stars: this.roll(6), other: 'x' };
  }

  /** Its record has an id that is not known here. */
  private async sendForm({ id: _, ...comment }: Comment & { id: string }): Promise<void> {
    const fields = Object.entries(comment).map(([name, value]) => [name, String(value)]);
    const form = { ...Object.fromEntries(fields), _save: '1' };
    const answer = await this.stage.send({ as: 'mona', send: 'POST talk/blocks/comment', form, accept: 'text/html' });
    expect(answer.status, answer.text).toBe(303);
  }

  private async changeInPanel(id: string, change: Partial<Comment>): Promise<void> {
    const target = `${panel}?id=${id}`;
    const { json } = await this.stage.send<RecordDetail>({ as: 'root', send: `GET ${target}` });
    const { items, version } = json;
    await this.inPanel(`PUT ${target}`, { items: { ...items, ...change }, version });
  }

  private async inPanel(line: string, json: unknown): Promise<void> {
    const answer = await this.stage.send({ as: 'root', send: line, json });
    expect(answer.status, answer.text).toBeLessThan(300);
  }

  private async ask(line: string, json?: unknown): Promise<void> {
    const [method = '', path = ''] = line.split(' ');
    const headers = { accept: 'application/json', 'x-csrf-token': this.token };
    const target = `/site/@@apps/talk/${path}`;
    const as = await this.stage.credential('mona');
    const answer = await send(this.pick(this.hosts).url, { method, path: target, headers, json, as });
    expect(answer.status, answer.text).toBeLessThan(300);
  }

  private pick<T>(list: readonly T[]): T {
    return list[this.roll(list.length)] as T;
  }
}
