/** A file that waits for its form's next submission. */
export interface KeptFile {
  token: string;
  /** Who has sent it: a name that all requests of a sender have in common. */
  sender: string;
  /** Bytes. */
  size: number;
  /** Milliseconds since the epoch. */
  keptAt: number;
}

/** The part of all kept files that one sender may have: a divisor. */
export const SHARE = 8;

/** Up to this part of all, a divisor, a sender's files stay for SAFE_TIME, whatever others send. */
export const SAFE_SHARE = 64;

/** Milliseconds. */
export const SAFE_TIME = 10 * 60 * 1000;

/** Bytes that a smaller file counts as: so the number of files is bounded too. */
const LEAST = 256 * 1024;

interface Sender {
  size: number;
  /** Oldest first. */
  files: KeptFile[];
}

/**
 * The kept files of one temporary folder, and which of them give way to a new one (docs/decisions/files.md): those that a
 * visitor has left, rather than one who has just sent a form.
 */
export class KeptFiles {
  private readonly files = new Map<string, KeptFile>();

  /** @param total bytes of all files together */
  constructor(private readonly total: number) {}

  has = (token: string): boolean => this.files.has(token);
  get = (token: string): KeptFile | undefined => this.files.get(token);
  add = ({ token, sender, size, keptAt }: KeptFile): void =>
    void this.files.set(token, { token, sender, size, keptAt });
  /** Whether it was there. */
  delete = (token: string): boolean => this.files.delete(token);
  all = (): KeptFile[] => [...this.files.values()];

  /**
   * The files that give way to a new one, which may be none; null where it finds no room.
   * @param stays tokens of files that the same request shows again
   * @param now milliseconds since the epoch
   */
  roomFor({ sender, size }: Pick<KeptFile, 'sender' | 'size'>, stays: ReadonlySet<string>, now: number) {
    const senders = this.bySender();
    const added = counted(size);
    const own = senders.get(sender) ?? { size: 0, files: [] };
    let sum = [...senders.values()].reduce((all, one) => all + one.size, 0);
    const leaving: KeptFile[] = [];
    const leave = (from: Sender, file: KeptFile): void => {
      from.files.splice(from.files.indexOf(file), 1);
      from.size -= counted(file.size);
      sum -= counted(file.size);
      leaving.push(file);
    };
    const freeOf = (from: Sender, isFree: (file: KeptFile) => boolean) =>
      from.files.find((file) => !stays.has(file.token) && isFree(file));
    while (own.size + added > this.total / SHARE) {
      const file = freeOf(own, () => true);
      if (!file) return null;
      leave(own, file);
    }
    while (sum + added > this.total) {
      let largest: { from: Sender; file: KeptFile } | undefined;
      for (const from of senders.values()) {
        if (largest && largest.from.size >= from.size) continue;
        const isSafe = from.size <= this.total / SAFE_SHARE;
        const file = freeOf(from, ({ keptAt }) => !isSafe || now - keptAt >= SAFE_TIME);
        if (file) largest = { from, file };
      }
      if (!largest) return null;
      leave(largest.from, largest.file);
    }
    return leaving;
  }

  private bySender(): Map<string, Sender> {
    const senders = new Map<string, Sender>();
    for (const file of [...this.files.values()].sort((a, b) => a.keptAt - b.keptAt)) {
      const one = senders.get(file.sender) ?? { size: 0, files: [] };
      one.size += counted(file.size);
      one.files.push(file);
      senders.set(file.sender, one);
    }
    return senders;
  }
}

const counted = (size: number): number => Math.max(size, LEAST);
