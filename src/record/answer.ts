/**
 * Hears how a promise settles before whoever asked does, and hands it on.
 *
 * A plain promise or a foreign thenable is followed by a new promise, so that an unhandled rejection stays one and a
 * lazy thenable is started once. A subclass keeps its own methods and is handed on itself.
 *
 * @param handOn - what whoever asked gets for the value; it tells `fulfilled` itself. Not asked about a subclass
 * @param failed - as `rejected`; what it returns is waited for before whoever asked hears of the error. Not of a subclass
 */
export function observe(
  answer: PromiseLike<unknown>,
  fulfilled: (value: unknown) => void,
  rejected: (error: unknown) => void,
  handOn: (value: unknown) => unknown = (value) => {
    fulfilled(value)
    return value
  },
  failed: (error: unknown) => PromiseLike<void> | void = rejected,
): PromiseLike<unknown> {
  if (answer instanceof Promise && answer.constructor !== Promise) {
    answer.then(fulfilled, rejected)
    return answer
  }
  return Promise.resolve(answer).then(handOn, (error: unknown) => {
    const waits = failed(error)
    if (waits === undefined) throw error
    return waits.then(() => {
      throw error
    })
  })
}
