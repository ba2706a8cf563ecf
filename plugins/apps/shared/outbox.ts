/**
 * Sends messages in bundles: all that are written in one turn of the event loop go together, since between processes a
 * message costs its way far more than its length.
 * @param deliver sends a bundle; its messages are in the order in which they were written
 * @param later runs what it is given at the end of the turn: Node's `setImmediate`
 */
export function createOutbox<Message>(
  deliver: (messages: Message[]) => void,
  later: (work: () => void) => unknown,
): (message: Message) => void {
  let waiting: Message[] = [];
  const flush = () => {
    const messages = waiting;
    waiting = [];
    deliver(messages);
  };
  return (message) => {
    if (waiting.push(message) === 1) later(flush);
  };
}
