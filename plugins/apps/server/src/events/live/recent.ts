import type { Publication } from './publication';

/** Milliseconds for which publications are kept, records of them, and publications. */
export const KEPT = 60_000;
const MAX_RECORDS = 2_000;
const MAX_PUBLICATIONS = 5_000;

/**
 * Milliseconds by which a change of another process may be published before a moment and become known after it: their clocks
 * differ, and rows are read once a second.
 */
const MARGIN = 2_500;

const POSITION = /^([\w-]{8})\.(\d{1,15})$/;

/** A moment of the process `origin`, as a text. */
export const positionText = (origin: string, at: number): string => `${origin}.${at}`;

/** The publications of the last minute, for pages that were rendered before they have connected. */
export class Recent {
  private list: Publication[] = [];
  private records = 0;
  /** Before when publications were dropped. */
  private dropped = 0;
  /** Since when those of other processes are here. */
  private foreign = Number.POSITIVE_INFINITY;

  add(publication: Publication): void {
    this.list.push(publication);
    this.records += sizeOf(publication);
    this.trim();
  }

  /** Says since when the publications of other processes are here; Infinity: some may be missing from now on. */
  foreignSince(at: number): void {
    this.foreign = at;
  }

  /** What a page may have missed that was rendered at a position; null when that is not known. */
  since(position: string): Publication[] | null {
    const [, origin, digits] = POSITION.exec(position) ?? [];
    const at = Number(digits);
    if (origin === undefined || at - MARGIN < Math.max(this.dropped, this.foreign)) return null;
    return this.list.filter((one) => one.at >= at - (one.origin === origin ? 0 : MARGIN));
  }

  private trim(): void {
    const { length } = this.list;
    let first = 0;
    const until = Date.now() - KEPT;
    for (; first < length; first += 1) {
      const one = this.list[first] as Publication;
      const isFull = this.records > MAX_RECORDS || length - first > MAX_PUBLICATIONS;
      if (!isFull && one.at >= until) break;
      this.records -= sizeOf(one);
      this.dropped = Math.max(this.dropped, Math.min(one.at, Date.now()) + MARGIN);
    }
    this.list.splice(0, first);
  }
}

const sizeOf = ({ apps }: Publication): number =>
  [...(apps?.values() ?? [])].reduce((sum, changes) => sum + (changes?.length ?? 0), 1);
