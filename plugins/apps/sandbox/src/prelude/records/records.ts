import { unflushed } from 'apps:host-functions';
import type { Items, Json } from '../../../../shared/json';
import type { RecordData } from '../../../../shared/logic-protocol';
import { type Exchange, only } from '../bridge';
import { hostError } from '../errors';
import { newState, type RecordState, refresh, takeChange } from './record-state';
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
  /** Calls `take` before each call that could see a pending change; it returns that change, or null. */
  pending(take: () => Pending | null): void;
  /** Writes pending changes back. */
  flush(): void;
}

/** A change of something other than a record. */
export interface Pending {
  call: [name: string, args: Items];
  done(value: Json): void;
}

export function createRecords(exchange: Exchange): Records {
  const known = new Map<string, { state: RecordState; view: object }>();
  const sources: (() => Pending | null)[] = [];
  const keyOf = (app: string | null, id: string) => `${app ?? ''}\n${id}`;

  /** One round trip: the pending changes, then the call itself. */
  function send(last: [string, Items][]): Json {
    const changed: RecordState[] = [];
    const changes: [string, Items][] = [];
    for (const { state } of known.values()) {
      const change = takeChange(state);
      if (!change) continue;
      changed.push(state);
      changes.push(['changeRecord', { app: state.app, id: state.id, change }]);
    }
    const others = sources.flatMap((take) => take() ?? []);
    if (changes.length + others.length + last.length === 0) return null;
    const answer = exchange([...changes, ...others.map(({ call }) => call), ...last]);
    for (const [index, state] of changed.entries())
      if (index < answer.values.length) refresh(state, answer.values[index] as never);
    const seen = answer.values.slice(changed.length);
    for (const [index, { done }] of others.entries()) {
      const value = seen[index];
      if (value !== undefined) done(value);
    }
    if (answer.error) throw hostError(answer.error);
    return seen[others.length] ?? null;
  }

  const records: Records = {
    call: (name, args) => (unflushed.includes(name) ? only(exchange([[name, args]])) : send([[name, args]])),
    flush: () => void send([]),
    pending: (take) => void sources.push(take),
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
