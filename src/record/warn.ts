import { types } from 'node:util'
import { type ErrorFacts, HarvestError } from '../errors/index.ts'
import { onceInProcess } from '../seam/patch.ts'
import { seamState } from '../seam/source.ts'

/** A cause of warnings: what was said of it first, and how often it came. */
interface Told {
  readonly first: HarvestError
  readonly say: (error: HarvestError) => void
  times: number
}

/**
 * Tells about the first failure of each cause, and when the process ends how often it came if that was more than once. Of
 * several recorders that write to stderr one tells. A callback that fails itself is ignored, for the agent must go on.
 *
 * @param onWarning - default: stderr
 * @param redacted - a text as it may be printed: what the application threw may quote a secret
 */
export function warner(
  onWarning: ((error: HarvestError) => void) | undefined,
  redacted: (text: string) => string,
): (error: HarvestError) => void {
  const say = onWarning === undefined ? print : (error: HarvestError) => quietly(() => onWarning(error))
  const told = onWarning === undefined ? printed() : new Map<string, Told>()
  return (given) => {
    const cause = causeOf(given)
    const before = told.get(cause)
    if (before !== undefined) {
      before.times++
      return
    }
    const error = redactedError(given, redacted)
    told.set(cause, { first: error, say, times: 1 })
    everywhere().add(told)
    onceInProcess('record.warnings', () => process.on('exit', sayCounts))
    say(error)
  }
}

function redactedError({ code, facts, cause }: HarvestError, redacted: (text: string) => string): HarvestError {
  const { what, where = {}, why, fix, detail } = facts
  const clean: ErrorFacts = {
    what: redacted(what),
    where: Object.fromEntries(Object.entries(where).map(([label, value]) => [label, redacted(value)])),
    ...(why === undefined ? {} : { why: redacted(why) }),
    ...(fix === undefined ? {} : { fix: fix.map(redacted) }),
    ...(detail === undefined ? {} : { detail: redacted(detail) }),
  }
  return new HarvestError(code, clean, { cause })
}

/** Calls back the application. */
export function quietly(work: () => unknown): void {
  try {
    hearRejection(work(), () => undefined)
  } catch {
    // The callback that was to hear of the failure failed: no one is left to report to.
  }
}

/** What a callback of the application promises is not awaited: that it fails must not end the process. */
export function hearRejection(answer: unknown, failed: (error: unknown) => void): void {
  if (types.isPromise(answer)) void answer.catch(failed)
}

function print(error: HarvestError): void {
  process.stderr.write(`vitest-harvest: ${error.message.replaceAll('\n', '\n  ')}\n`)
}

/** What is said of several failures of one cause, when no more can come. */
function sayCounts(): void {
  for (const told of everywhere()) {
    for (const { first, say, times } of told.values()) {
      if (times === 1) continue
      say(
        new HarvestError(first.code, {
          what: `The same failure happened ${times} times in this process`,
          where: { first: first.facts.what, ...first.facts.where },
          ...(first.facts.why === undefined ? {} : { why: first.facts.why }),
          ...(first.facts.fix === undefined ? {} : { fix: first.facts.fix }),
        }),
      )
    }
    told.clear()
  }
}

/** The code, and what the system called it; of what is not about the system, what it is about. */
function causeOf(error: HarvestError): string {
  for (let at: unknown = error.cause; typeof at === 'object' && at !== null; at = (at as Error).cause) {
    const { code, syscall } = at as NodeJS.ErrnoException
    if (typeof code === 'string' && syscall !== undefined) return `${error.code} ${code}`
  }
  const { where = {}, what, why = '' } = error.facts
  return 'run' in where ? `${error.code} ${why}` : `${error.code} ${what} ${JSON.stringify(where)}`
}

type Causes = Map<string, Told>

/** What was said on stderr, by every copy of this package in the process. */
function printed(): Causes {
  return shared('record.printed', () => new Map())
}

function everywhere(): Set<Causes> {
  return shared('record.told', () => new Set())
}

function shared<T>(name: string, make: () => T): T {
  const { shared: known } = seamState()
  if (!known.has(name)) known.set(name, make())
  return known.get(name) as T
}
