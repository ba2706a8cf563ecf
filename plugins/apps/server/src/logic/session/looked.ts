import { everything, maxLooked } from '../../../../shared/looked';

/** The inputs that the logic of a session has looked at, as far as the session has answered (`LogicSession.looked`). */
export class LookedInputs {
  private readonly names = new Set<string>();

  get all(): ReadonlySet<string> {
    return this.names;
  }

  /** Adds the names of an answer. Over the limits of a session, or with `everything`, only `everything` is left. */
  add(names: readonly string[]): void {
    for (const name of names) this.names.add(name);
    if (this.names.size > maxLooked.names || this.names.has(everything)) this.addEverything();
  }

  /** What an answer says that did not come, or cannot be read, is unknown. */
  addEverything(): void {
    this.names.clear();
    this.names.add(everything);
  }
}
