/** A subject of which the processes on one database tell each other at once. */
export type Channel = 'changes' | 'jobs';

/** Tells other processes that there is something new in the database, and hears of theirs. A signal may be lost: each process also looks. */
export interface Signals {
  /** Whether no signal is lost while the database can be reached, so that a process need not look. */
  isReliable(): boolean;
  /** Tells the other processes; several calls within a tenth of a second are one signal. */
  send(topic: Channel): void;
  /** Calls `receive` when there may be news of other processes. */
  on(topic: Channel, receive: () => void): void;
  /** Begins to hear; a process that never calls it can send. */
  listen(): void;
  /** Sends what waits, and ends. */
  destroy(): Promise<void>;
}

/** What one process tells all others, by a row that is kept for a minute. */
export interface ProcessMessage {
  /** When it was written, in milliseconds since the epoch by the clock of `origin`. */
  at: number;
  /** The process that has written it. */
  origin: string;
  /** Tokens of the topics of live blocks that have changed. */
  tokens: readonly string[];
  /** What else is said, by subject; null: by another version of the plugin. */
  said: Readonly<Record<string, unknown>> | null;
}

/** Called with the messages of other processes. */
export interface MessageReceiver {
  /** @param isOld whether it was written before this process has begun to read */
  receive(message: ProcessMessage, isOld: boolean): void;
  /** Called with the time since when all messages are known; Infinity when they are no longer read. */
  knowsSince?(at: number): void;
}

/** Messages between the processes on one database (docs/decisions/processes.md). */
export interface Messages {
  /** Names this process: 8 characters. */
  readonly origin: string;
  /** Writes a message; rejects with the error of the database. */
  write(message: Omit<ProcessMessage, 'origin' | 'said'> & { said: Record<string, unknown> }): Promise<void>;
  /** Calls the receiver from now on. */
  subscribe(receiver: MessageReceiver): void;
  /**
   * Reads the messages of others until ten seconds after the returned function is called; `ready` resolves when those of the last minute
   * are known.
   */
  listen(): { ready: Promise<void>; stop: () => void };
  /** Reads and deletes nothing more. */
  destroy(): void;
}

/** The part of a client of the package `redis` that is used here. */
export interface RedisClient {
  readonly isReady: boolean;
  on(event: 'error' | 'ready', call: (error: Error) => void): unknown;
  connect(): Promise<unknown>;
  duplicate(): RedisClient;
  publish(channel: string, message: string): Promise<unknown>;
  subscribe(channels: string[], receive: (message: string, channel: string) => void): Promise<unknown>;
  destroy(): void;
}

/** A connection to Redis that is made again whenever it is lost. */
export interface Redis {
  readonly client: RedisClient;
  /** Whether Redis answers, as far as is known. */
  isReady(): boolean;
  /** Resolves to what `ask` gives; to what `otherwise` gives where Redis is away, fails, or does not answer in time. */
  use<T>(ask: () => Promise<T>, otherwise: () => Promise<T>): Promise<T>;
  destroy(): void;
}
