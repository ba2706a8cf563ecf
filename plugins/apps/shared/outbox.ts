/**
 * Sends messages in bundles: all messages of one turn of the event loop go together, because between processes
 * the cost of a message hardly depends on its length.
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
