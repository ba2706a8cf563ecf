/**
 * A moment by the clock of a server process, as the server writes it: `<process>.<milliseconds>`. Positions of different processes
 * differ by the difference of their clocks.
 */
export type Position = string;

/** Milliseconds by which clocks of server processes differ, and by which they know of each other's changes later. */
const MARGIN = 2_500;

const processOf = (position: Position): string => position.split('.')[0] ?? '';
const timeOf = (position: Position): number => Number(position.split('.')[1]);

/** Whether a position is surely not before another. */
export const isAfter = (position: Position, other: Position): boolean =>
  timeOf(position) >= timeOf(other) + (processOf(position) === processOf(other) ? 0 : MARGIN);

/** The same process's moment some milliseconds later. */
export const later = (position: Position, milliseconds: number): Position =>
  `${processOf(position)}.${Math.round(timeOf(position) + Math.max(0, milliseconds))}`;

/** The first of some positions; of no process where they are of several. */
export function earliest(positions: readonly Position[]): Position | undefined {
  const [first] = positions;
  if (first === undefined) return undefined;
  const isSame = positions.every((one) => processOf(one) === processOf(first));
  return `${isSame ? processOf(first) : '--------'}.${Math.min(...positions.map(timeOf))}`;
}
