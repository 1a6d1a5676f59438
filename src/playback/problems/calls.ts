// Over 300 lines: what can be wrong about a call or an answer, a message each.
import { HarvestError, shellWord, withFacts } from '../../errors/index.ts'
import { neutral, neutralLine } from '../../errors/neutral.ts'
import type { OftenRead } from '../../match/calls.ts'
import { bodyDifference } from '../../match/difference.ts'
import { type StepState, describeStep } from '../../match/step.ts'
import type { Drift, NotRevived } from '../../match/types.ts'
import { decodeBytes, type RecordedResponse, type Tape } from '../../tape/index.ts'
import {
  type ProblemLocation,
  accept,
  recordAgain,
  excerpt,
  seeSteps,
  showDifference,
  whereMade,
  where,
} from './place.ts'
import { isQuery, queryOf } from './requests.ts'

export function wrongCall(
  place: ProblemLocation,
  name: string,
  args: string,
  nearest: StepState | undefined,
): HarvestError {
  const recorded = nearest?.event.kind === 'exchange' || !nearest ? undefined : JSON.stringify(nearest.event.args)
  const difference = recorded === undefined ? undefined : bodyDifference(recorded, args)
  return new HarvestError(nearest && recorded !== undefined ? 'HARVEST_DIVERGENCE' : 'HARVEST_TAPE_EXHAUSTED', {
    what: nearest
      ? `The agent called ${name} with arguments that are not on the tape`
      : `The agent called ${name} more often than recorded`,
    where: {
      ...whereMade(place),
      call: `${name} ${excerpt(args)}`,
      nearest: nearest ? describeStep(nearest) : 'none left',
      ...(nearest && queryOf(nearest)),
    },
    ...(difference ? { detail: showDifference(difference) } : {}),
    why: 'The tape has no result for this call.',
    fix: [`to see the recorded steps: npx vitest-harvest show ${shellWord(place.tape.header.id)}`, recordAgain],
  })
}

/** A call of a function that the recorded run never called: a new one, or one that has another name now. */
export function unknownCall(
  place: ProblemLocation,
  name: string,
  args: string,
  due: StepState | undefined,
): HarvestError {
  return new HarvestError('HARVEST_TAPE_EXHAUSTED', {
    what: `The agent called ${JSON.stringify(name)}, which it never did when this run was recorded`,
    where: {
      ...whereMade(place),
      call: `${name} ${excerpt(args)}`,
      'due on the tape': due ? describeStep(due) : 'no further step',
    },
    why: 'The tape has no result for this call.',
    fix: [
      'if the function was only renamed: keep its recorded name, as tool(name, …)',
      `to see the recorded steps: npx vitest-harvest show ${shellWord(place.tape.header.id)}`,
      recordAgain,
    ],
  })
}

/** A call that is answered all the same, for what the agent does next is to be seen. */
export function otherArguments(
  place: ProblemLocation,
  step: StepState,
  { part: name, path, recorded, live }: Drift,
): HarvestError {
  return new HarvestError('HARVEST_DIVERGENCE', {
    what: `The agent called ${name} with arguments that are not on the tape`,
    where: { ...whereMade(place), recorded: describeStep(step), ...queryOf(step) },
    detail: showDifference({ path: path.replace(/^args\.?/, '') || 'the arguments', recorded, live }),
    why: isQuery(step)
      ? 'The recorded rows answer another query.'
      : "The model's decision is recorded, so the agent's code changed the arguments.",
    fix: [`to see the recorded steps: npx vitest-harvest show ${shellWord(place.tape.header.id)}`, recordAgain],
  })
}

/** The body of a wrapped function made something else of the recorded arguments. */
export function otherResult(
  tape: Tape,
  step: StepState,
  { part: name, path, recorded, live, site }: Drift,
): HarvestError {
  return new HarvestError('HARVEST_RESULTS', {
    what: path.startsWith('args')
      ? `The code of ${name} no longer leaves its arguments as recorded`
      : `The code of ${name} no longer returns its recorded result`,
    where: { tape: tape.header.id, ...(site === undefined ? {} : { at: site }), recorded: describeStep(step) },
    detail: showDifference({ path: path || 'how it ended', recorded, live }),
    why: 'Its body ran with the recorded arguments. The agent went on with the recorded result.',
    fix: [
      'if the new result is right: record the run again and promote the new tape',
      `to exclude it: tools: { run: […] } without ${name}`,
    ],
  })
}

/** The body of a wrapped function ended without steps it took when recorded. */
export function leftOutInside(
  tape: Tape,
  name: string,
  site: string | undefined,
  left: readonly StepState[],
): HarvestError {
  const shown = left.slice(0, 10).map((step) => `  - ${neutralLine(describeStep(step))}`)
  return new HarvestError('HARVEST_RESULTS', {
    what: `The code of ${name} left out ${left.length} recorded step${left.length === 1 ? '' : 's'}`,
    where: { tape: tape.header.id, ...(site === undefined ? {} : { at: site }) },
    detail: shown.join('\n'),
    why: 'It ran with the recorded arguments, and ended without making these calls.',
    fix: [
      'look for a lost `await` or a cached answer',
      'if the new behaviour is right: record the run again and promote the new tape',
    ],
  })
}

/** The code of a recorded call ended while an action was under way whose answer it waited for when recorded. */
export function notAwaitedInside(tape: Tape, name: string, site: string | undefined, step: StepState): HarvestError {
  return new HarvestError('HARVEST_NOT_AWAITED', {
    what: `The code of ${name} ended without waiting for an action`,
    where: {
      tape: tape.header.id,
      action: neutralLine(describeStep(step)),
      ...(site === undefined ? {} : { at: site }),
    },
    why: 'The recorded code waited for its answer; now its errors go unseen.',
    fix: [
      `put \`await\` before the call in ${name}`,
      `to see the recorded step: npx vitest-harvest show ${shellWord(tape.header.id)} --step ${shellWord(step.number)}`,
      recordAgain,
    ],
  })
}

/** A `value()` that is read in a loop, or once more. */
export function readTooOften(tape: Tape, { name, recorded, read, site }: OftenRead): HarvestError {
  const times = (count: number): string => (count === 1 ? 'once' : `${count} times`)
  return new HarvestError('HARVEST_TAPE_EXHAUSTED', {
    what: `The agent read the value ${neutralLine(name)} more often than recorded`,
    where: { tape: tape.header.id, ...(site ? { at: site } : {}), value: `read ${read} times, recorded ${recorded}` },
    why: `It was recorded ${times(recorded)}. The next value is unknown, so the last one was served again.`,
    fix: [`read it once and keep it, or record the run again and promote the new tape`],
  })
}

/** A step was made before one it came behind when recorded: that is under way now, or was not made by then. */
export function outOfOrder(place: ProblemLocation, step: StepState, before: StepState): HarvestError {
  if (!before.taken) return changedPlaces(place, step, before)
  const isAtOnce = wasAtOnce(step, before)
  return new HarvestError('HARVEST_ORDER', {
    what: `The agent made ${describeStep(step)}, before step ${before.number} was answered`,
    where: { ...whereMade(place), 'waited for': describeStep(before) },
    why: whyAfter(step, before),
    fix: [
      `if ${isAtOnce ? 'this step needs that answer' : 'the order matters'}: look for a lost \`await\``,
      ...(isAtOnce ? ['if both were made at once before, too: no `await` is lost; the tape has another count'] : []),
      seeOrder(place),
      recordAgain,
    ],
  })
}

/** What is never made at all is another problem, see `unlessAsked`. */
function changedPlaces(place: ProblemLocation, step: StepState, before: StepState): HarvestError {
  const isAtOnce = wasAtOnce(step, before)
  const isWhereCalled = before.event.kind !== 'exchange' && before.event.sync === true
  return new HarvestError('HARVEST_ORDER', {
    what: `The agent made its steps in another order: step ${step.number} came before step ${before.number}, which it made later`,
    where: { ...whereMade(place), made: describeStep(step), 'made later': describeStep(before) },
    why: isAtOnce
      ? `In the recording step ${before.number} came first and was answered at once, and step ${step.number} followed within some turns of promises. A tape does not show whether it waited. Where neither waits for the other, one \`await\`, \`async\` function or \`then\` more or less decides which comes first.`
      : `In the recording step ${before.number} came first.`,
    fix: [
      `if the order matters: make step ${before.number} first, and await it`,
      ...(isAtOnce && !isWhereCalled
        ? [
            'if it does not: make both calls before the first `await`, as in `Promise.all([a(), b()])`, and record again; then either may come first',
          ]
        : []),
      seeOrder(place),
      recordAgain,
    ],
  })
}

function seeOrder({ tape }: ProblemLocation): string {
  return `to see the recorded order: npx vitest-harvest show ${shellWord(tape.header.id)}`
}

/** What the tape tells of two steps of which the first was answered before the second was made. */
function whyAfter(step: StepState, before: StepState): string {
  if (before.event.kind === 'exchange') return 'In the recording it waited for that answer first.'
  return wasAtOnce(step, before)
    ? 'In the recording that answer came at once, and this step more or fewer turns of promises after the call than now. A tape counts turns alone: a helper function, a wrapper around `fetch` or swapped calls change their number, and so does a lost `await`.'
    : 'In the recording that answer came first.'
}

/** Of such an answer a tape does not show whether the step waited for it. */
function wasAtOnce({ event }: StepState, before: StepState): boolean {
  return event.turns?.some(([n]) => n === before.event.n) === true
}

/** Codes of problems that another version of an SDK may be behind: it words, orders or repeats requests differently. */
const requestProblems = new Set([
  'HARVEST_DIVERGENCE',
  'HARVEST_TAPE_EXHAUSTED',
  'HARVEST_AMBIGUOUS',
  'HARVEST_ORDER',
  'HARVEST_UNUSED',
  'HARVEST_DRIFT',
  'HARVEST_DELIVERY',
])

/** The problem with the versions of the SDKs that changed beside it, where they may explain it. */
export function withClients(error: HarvestError, changes: readonly string[]): HarvestError {
  if (!requestProblems.has(error.code)) return error
  const sdk = `${neutral(changes.join('; '))} since this run was recorded`
  return withFacts(error, { where: { ...error.facts.where, SDK: sdk } })
}

/** The problem with what was not called beside it: where that is a part of the agent, its requests lack what it adds. */
export function withPassedOver(error: HarvestError, names: readonly string[]): HarvestError {
  if (!requestProblems.has(error.code)) return error
  const { where: place, fix = [] } = error.facts
  const said = `what replaced ${names.join(' and ')} before this replay`
  const way = 'if that is a part of the agent: replay it as a case, or by hand in a test file of its own'
  return withFacts(error, { where: { ...place, 'not called': said }, fix: [...fix, way] })
}

/** How a header is kept that a recorder drops. */
export function keptHeader(name: string): string {
  return `redact: { headers: ['${name}'] } of the recorder keeps this one`
}

/** A difference with the headers of answers beside it that the agent looks for and no tape has, where there are such. */
export function withMissedHeaders(error: HarvestError, [first = '', ...more]: readonly string[]): HarvestError {
  const { where: around } = error.facts
  const said = `header ${first} of an answer; ${keptHeader(first)}${more.length > 0 ? ` (and ${more.length} more)` : ''}`
  return withFacts(error, { where: { ...around, 'not on tape': said } })
}

/** A difference with the recorded answers beside it that the agent did not get as they were, where there are such. */
export function withLosses(error: HarvestError, lost: readonly NotRevived[]): HarvestError {
  const [first, ...more] = lost
  if (first === undefined) return error
  const { where: around, fix = [] } = error.facts
  const { name, stepNumber, part, at, what } = first
  const place = at === '' ? '' : ` at ${at}`
  const said = `step ${stepNumber}, ${name}: the recorded ${part} was a \`${what}\`${place}; revive it`
  const shown = neutralLine(said, 300) + (more.length > 0 ? ` (and ${more.length} more)` : '')
  return withFacts(error, {
    where: { ...around, 'not revived': shown },
    fix: [...fix, `to restore it: tool(${neutralLine(name, 60)}, { revive: (recorded) => … })`],
  })
}

/** A wrapped function returned a query, and the agent built it further before it awaited it: no tape holds to what. */
export function queryBuiltFurther(place: ProblemLocation, step: StepState, lost: string): HarvestError {
  return new HarvestError('HARVEST_DIVERGENCE', {
    what: `The tape does not hold to what the agent built the query that a function returned`,
    where: { ...where(place), call: describeStep(step), lost: neutralLine(lost, 300) },
    why: 'It holds the call and the rows alone, so that no replay can tell whether the query is still the same.',
    fix: ['wrap the function that awaits the query, and record the run again', seeSteps(place)],
  })
}

export function unusedSteps(tape: Tape, unused: readonly StepState[]): HarvestError {
  const shown = unused.slice(0, 10).map((step) => `  - ${neutralLine(describeStep(step))}`)
  if (unused.length > shown.length) shown.push(`  … and ${unused.length - shown.length} more`)
  return new HarvestError('HARVEST_UNUSED', {
    what: `The agent left out ${unused.length} recorded step${unused.length === 1 ? '' : 's'}`,
    where: { tape: tape.header.id },
    detail: shown.join('\n'),
    why: 'The agent takes fewer steps than recorded.',
    fix: [
      `to see the recorded steps: npx vitest-harvest show ${shellWord(tape.header.id)}`,
      unused.every(({ event }) => event.kind === 'tool' || event.kind === 'retrieval') ? accept : recordAgain,
    ],
  })
}

/** The agent wants more of an answer that the recorded one gave up. */
export function readsOn(place: ProblemLocation, step: StepState, pieces: number): HarvestError {
  return new HarvestError('HARVEST_TAPE_EXHAUSTED', {
    what: 'The agent reads an answer further than it did when recorded',
    where: {
      ...where(place),
      answer: neutralLine(describeStep(step)),
      recorded: pieces === 1 ? '1 piece' : `${pieces} pieces`,
      ...(step.event.kind === 'exchange' ? { bytes: `the first ${bytesOf(step.event.response)}` } : {}),
    },
    why: 'The recorded agent stopped reading here, so the rest of the answer is not on the tape.',
    fix: [
      `to see the recorded step: npx vitest-harvest show ${shellWord(place.tape.header.id)} --step ${shellWord(step.number)}`,
      recordAgain,
    ],
  })
}

function bytesOf(response: RecordedResponse | undefined): number {
  return (response?.chunks ?? []).reduce((sum, [, , bytes]) => sum + decodeBytes(bytes).length, 0)
}

/** The agent lets a request go on that changes something, and that it gave up when recorded. */
export function keptOn(tape: Tape, step: StepState, site: string | undefined): HarvestError {
  return new HarvestError('HARVEST_TAPE_EXHAUSTED', {
    what: 'The agent no longer gives up a request that it gave up when recorded',
    where: { tape: tape.header.id, action: neutralLine(describeStep(step)), ...(site ? { at: site } : {}) },
    why: 'It was given up before any answer. Now it goes on, and what it leads to is not on the tape.',
    fix: [
      'pass the signal to the request again, and abort it where it was aborted',
      `to see the recorded step: npx vitest-harvest show ${shellWord(tape.header.id)} --step ${shellWord(step.number)}`,
      recordAgain,
    ],
  })
}

/** The agent ended while an action was under way whose answer the recorded agent waited for. */
export function notAwaited(tape: Tape, step: StepState, hasThrown = false): HarvestError {
  return new HarvestError('HARVEST_NOT_AWAITED', {
    what: `The agent ${hasThrown ? 'threw' : 'returned'} without waiting for an action`,
    where: { tape: tape.header.id, action: neutralLine(describeStep(step)) },
    why: 'The recorded agent waited for its answer; now its errors go unseen.',
    fix: [
      'put `await` before the call in the agent',
      `to see the recorded step: npx vitest-harvest show ${shellWord(tape.header.id)} --step ${shellWord(step.number)}`,
      recordAgain,
    ],
  })
}
