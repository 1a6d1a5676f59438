/**
 * Turns of the microtask queue that undici takes from the head of an answer to the response. Two answers that come in one
 * turn of the event loop reach the agent in their order, whoever hands them over.
 */
export const headTurns = 8

/** Does something when the microtask queue has turned so often. */
export function afterTurns(turns: number, work: () => void): void {
  queueMicrotask(turns <= 1 ? work : () => afterTurns(turns - 1, work))
}
