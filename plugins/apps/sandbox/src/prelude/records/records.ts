import { unflushed } from 'apps:host-functions';
import type { Items, Json } from '../../../../shared/json';
import type { RecordData } from '../../../../shared/logic-protocol';
import { type Exchange, only } from '../bridge';
import { hostError } from '../errors';
import { newState, pendingChange, type RecordState, refresh } from './record-state';
import { viewOf } from './record-view';

/** The identity map of the session's records: one object for each record. */
export interface Records {
  /** Makes a host call after all changes that it could read were written back. */
  call(name: string, args: Items): Json;
  /** The object for a record that the server gave. */
  adopt(app: string | null, data: RecordData): object;
  /** As `adopt`, null for null. */
  adoptOrNull(app: string | null, data: Json): object | null;
  forget(app: string | null, id: string): void;
  /** Marks all records to be read again before use: code that ran inside a call may have changed any of them. */
  spread(): void;
  /** Calls `find` before each call that could see a pending change; it returns that change, or null. */
  pending(find: () => Pending | null): void;
  /** Writes pending changes back. */
  flush(): void;
  /**
   * A function has ended. Throws the error of a change that the server refused, unless it is the one with which the function
   * failed: where that is contained, an error mark shows it.
   */
  ended(failure?: unknown): void;
}

/** A change that the server does not have yet. */
export interface Pending {
  call: [name: string, args: Items];
  /** The call has been sent: the change is no longer pending. */
  sent(): void;
  /** The call has succeeded. */
  done(value: Json): void;
}

export function createRecords(exchange: Exchange): Records {
  const known = new Map<string, { state: RecordState; view: object }>();
  const sources: (() => Pending | null)[] = [];
  const keyOf = (app: string | null, id: string) => `${app ?? ''}\n${id}`;

  /** The error of a change that the server refused: the request fails with it if logic catches it. */
  let refused: Error | null = null;

  function pendingChanges(): Pending[] {
    const found: Pending[] = [];
    for (const { state } of known.values()) {
      const pending = pendingChange(state);
      if (!pending) continue;
      const { change, sent } = pending;
      const call: Pending['call'] = ['changeRecord', { app: state.app, id: state.id, change }];
      found.push({ call, sent, done: (value) => refresh(state, value as never) });
    }
    for (const find of sources) {
      const pending = find();
      if (pending) found.push(pending);
    }
    return found;
  }

  /** One round trip: the pending changes, then the call itself. Changes that cannot be sent stay pending. */
  function send(last: [string, Items][]): Json {
    if (refused) throw refused;
    const changes = pendingChanges();
    if (changes.length + last.length === 0) return null;
    const { values, error } = exchange([...changes.map(({ call }) => call), ...last]);
    const failure = error ? hostError(error) : null;
    if (values.length < changes.length) refused = failure;
    // The server has not made the changes after the refused one: they stay pending.
    for (const { sent } of changes.slice(0, values.length + 1)) sent();
    for (const [index, { done }] of changes.slice(0, values.length).entries()) done(values[index] as Json);
    if (failure) throw failure;
    return values[changes.length] ?? null;
  }

  const records: Records = {
    call: (name, args) => (unflushed.includes(name) ? only(exchange([[name, args]])) : send([[name, args]])),
    flush: () => void send([]),
    ended(failure) {
      if (refused && refused !== failure) throw refused;
      refused = null;
    },
    pending: (find) => void sources.push(find),
    adopt(app, data) {
      const entry = known.get(keyOf(app, data.id));
      if (entry) {
        refresh(entry.state, data);
        return entry.view;
      }
      const state = newState(app, data);
      const view = viewOf(state, {
        call: records.call,
        spread: records.spread,
        read: (name, args) => only(exchange([[name, args]])),
        renew(changed, now) {
          // At its creation a record may get its id from the block's `record_id`.
          if (changed.id !== now.id) known.delete(keyOf(changed.app, changed.id));
          refresh(changed, now);
          known.set(keyOf(changed.app, now.id), { state: changed, view });
        },
      });
      known.set(keyOf(app, data.id), { state, view });
      return view;
    },
    adoptOrNull: (app, data) => (data === null ? null : records.adopt(app, data as never)),
    forget(app, id) {
      const entry = known.get(keyOf(app, id));
      if (entry) entry.state.deleted = true;
      known.delete(keyOf(app, id));
    },
    spread() {
      for (const { state } of known.values()) state.stale = true;
    },
  };
  return records;
}
