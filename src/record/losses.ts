import { HarvestError, neutralLine } from '../errors/index.ts'
import type { SeamCall } from '../seam/source.ts'
import { argsChanged, type CallEvent, type Json, lossesIn, queryBuilt } from '../tape/index.ts'

/** Looks at a call for what a tape cannot give back. */
export class CallLosses {
  readonly #call: SeamCall
  readonly #before: string | undefined

  readonly #now: () => Json

  /**
   * @param args - as encoded, before anything is redacted
   * @param now - them at any later time
   */
  constructor(call: SeamCall, args: Json, now: () => Json) {
    this.#call = call
    this.#now = now
    // What is no object cannot be changed.
    const mayChange = call.args.some((arg) => typeof arg === 'object' && arg !== null)
    this.#before = mayChange ? JSON.stringify(args) : undefined
  }

  /** What is lost of the settled call, as it stands on the tape: `result: Money`, `args: changed by the call`. */
  of({ args, result, error, yields = [] }: Pick<CallEvent, 'args' | 'result' | 'error' | 'yields'>): readonly string[] {
    // The body of a replay inside it is not run: what it does it does again.
    if (this.#call.replay === 'run') return []
    const isRevived = this.#call.revive !== undefined
    const answers: readonly (readonly [string, Json | undefined])[] = isRevived
      ? []
      : [['result', result], ['error', error], ...yields.slice(0, 1).map(([, , value]) => ['piece', value] as const)]
    return [
      ...answers.flatMap(([part, value]) =>
        value === undefined ? [] : lossesIn(value).map(({ at, what }) => `${part}${at}: ${what}`),
      ),
      // What a driver is asked is data: it calls nothing back, and a decimal has its class as a field.
      ...(this.#call.driver === undefined ? lossesIn(args) : [])
        .filter(({ what }) => what === 'function')
        .map(({ at }) => `args${at}: a callback`),
      ...(this.#isChanged() ? [argsChanged] : []),
    ]
  }

  #isChanged(): boolean {
    return this.#before !== undefined && JSON.stringify(this.#now()) !== this.#before
  }
}

/** Reported once for each wrapped function. */
export function notGivenBack({ kind, name }: SeamCall, lost: readonly string[]): HarvestError {
  const isQuery = lost.some((one) => one.startsWith(queryBuilt))
  const isAnswer = lost.some((one) => !one.startsWith('args'))
  return new HarvestError('HARVEST_TOOL_LOSS', {
    what: `A replay cannot reproduce everything this ${kind} does`,
    where: { [kind]: neutralLine(name, 120), lost: neutralLine(lost.join(', '), 300) },
    why: 'A tape is data: class instances lose their methods, callbacks are not called, arguments are not mutated.',
    fix: isQuery
      ? ['to record the query as it is run: wrap the function that awaits it']
      : [
          ...(isAnswer
            ? [
                `to restore it in a replay: ${kind === 'value' ? 'value(name, fn' : `${wrapper(kind)}(fn`}, { revive: (recorded) => … })`,
              ]
            : []),
          ...(kind === 'value' ? [] : [`to run the function in a replay: ${wrapper(kind)}(fn, { replay: 'run' })`]),
        ],
  })
}

function wrapper(kind: SeamCall['kind']): string {
  return kind === 'retrieval' ? 'retriever' : kind
}
