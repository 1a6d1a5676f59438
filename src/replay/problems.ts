import { HarvestError } from '../errors/index.ts'
import { neutral, neutralLine } from '../errors/neutral.ts'
import { userSite } from '../seam/caller.ts'
import type { Tape } from '../tape/index.ts'
import { bodyDifference, type Difference } from './difference.ts'
import type { OftenRead } from './calls.ts'
import type { Answer, Question } from './ladder.ts'
import { describeStep, type ExchangeState, isStep, type StepState, shortUrl } from './step.ts'
import { sameTarget, targetOf } from './target.ts'
import type { Drift } from './types.ts'

/** Tool calls left out need no answer: a baseline without them is enough. */
const accept = 'if the new behaviour is right: npx harvest test --update-recordings --reason "…"'
/** Nothing on the tape answers the new behaviour: only a new tape does. */
const anew = 'if the new behaviour is right: record the run anew and promote the new tape'

/** What is known about the place a problem happened. */
export interface Place {
  readonly tape: Tape
  /** `file:line:column` of the user's code, if a frame of it was on the stack. */
  readonly site: string | undefined
  /** The step served last, for when there is no site. */
  readonly after: StepState | undefined
  /** How many steps the agent had made before. */
  readonly made: number
}

function where({ tape, site, after }: Place): Record<string, string> {
  return {
    tape: tape.header.id,
    ...(site ? { at: site } : {}),
    ...(after ? { after: describeStep(after) } : { after: 'the start of the run' }),
  }
}

/** As {@link where}, for a step the agent makes: with its number. */
function whereMade(place: Place): Record<string, string> {
  const recorded = place.tape.events.filter(isStep).length
  const { tape, ...rest } = where(place)
  return { tape: tape ?? '', step: `${place.made + 1} of this replay (${recorded} recorded)`, ...rest }
}

export function noAnswer(place: Place, question: Question, miss: Exclude<Answer, { kind: 'found' }>): HarvestError {
  const asked = `${question.method} ${shortUrl(question.url)}`
  if (miss.kind === 'ambiguous') return ambiguous(place, asked, miss.candidates)
  if (miss.kind === 'toolGone') return toolGone(place, asked, miss.step, miss.tool)
  const { nearest } = miss
  if (miss.exhausted && nearest && !samePlace(nearest, question)) return unknownCall(place, asked, nearest)
  const difference = nearest ? questionDifference(nearest, question) : undefined
  if (miss.exhausted && nearest) {
    return new HarvestError('HARVEST_TAPE_EXHAUSTED', {
      what: `The agent asked ${asked} once more than it did when this run was recorded`,
      where: { ...whereMade(place), nearest: describeStep(nearest) },
      ...(difference ? { detail: showDifference(difference) } : {}),
      why: 'All recorded answers of this address are used up: the agent now takes more steps, or repeats one.',
      fix: [`to see the recorded steps: npx harvest show ${place.tape.header.id}`, anew],
    })
  }
  if (!nearest) return unknownCall(place, asked, undefined)
  return new HarvestError('HARVEST_DIVERGENCE', {
    what: `The agent asked ${asked} something it did not ask when this run was recorded`,
    where: { ...whereMade(place), nearest: describeStep(nearest) },
    ...(difference ? { detail: showDifference(difference) } : {}),
    why: 'No recorded answer is for this question, and the nearest one answers another.',
    fix: [`to see the recorded steps: npx harvest show ${place.tape.header.id}`, anew],
  })
}

function questionDifference({ bodyText, event }: ExchangeState, question: Question): Difference | undefined {
  const inBody = bodyDifference(bodyText, question.bodyText)
  const { headers } = event.request
  if (inBody !== undefined || sameTarget(headers, question.target)) return inBody
  const [recorded, live] = [targetOf(headers), question.target].map((target) => excerpt(target.trimEnd() || '(absent)'))
  return { path: 'headers', recorded: recorded!, live: live! }
}

function samePlace(step: ExchangeState, question: Question): boolean {
  const path = (url: string): string => (URL.canParse(url) ? new URL(url).pathname : url)
  return step.event.method === question.method && path(step.event.url) === path(question.url)
}

function unknownCall(place: Place, asked: string, nearest: ExchangeState | undefined): HarvestError {
  return new HarvestError('HARVEST_DIVERGENCE', {
    what: `The agent called ${asked}, which it did not call when this run was recorded`,
    where: { ...whereMade(place), nearest: nearest ? describeStep(nearest) : 'none: the tape holds no exchange' },
    why: 'A replay has no way to the network: only recorded calls can be answered.',
    fix: [`to see the recorded steps: npx harvest show ${place.tape.header.id}`, anew],
  })
}

function ambiguous(place: Place, asked: string, candidates: readonly ExchangeState[]): HarvestError {
  return new HarvestError('HARVEST_AMBIGUOUS', {
    what: `The agent's call of ${asked} fits several recorded conversations about equally well`,
    where: {
      ...whereMade(place),
      ...Object.fromEntries(candidates.map((step, i) => [`candidate ${i + 1}`, describeStep(step)])),
    },
    why: 'The request was changed, and nothing in it says which of them it continues. A guess could serve the wrong answer.',
    fix: [anew],
  })
}

function toolGone(place: Place, asked: string, step: ExchangeState, tool: string): HarvestError {
  return new HarvestError('HARVEST_DIVERGENCE', {
    what: `The recorded answer to ${asked} calls the tool ${neutralLine(tool)}, which the agent no longer offers`,
    where: { ...whereMade(place), nearest: describeStep(step) },
    why: 'No model calls a tool it is not offered: what the agent would do next was never recorded.',
    fix: [`offer ${neutralLine(tool)} again`, anew],
  })
}

export function wrongCall(place: Place, name: string, args: string, nearest: StepState | undefined): HarvestError {
  const recorded = nearest?.event.kind === 'exchange' || !nearest ? undefined : JSON.stringify(nearest.event.args)
  const difference = recorded === undefined ? undefined : bodyDifference(recorded, args)
  return new HarvestError(nearest && recorded !== undefined ? 'HARVEST_DIVERGENCE' : 'HARVEST_TAPE_EXHAUSTED', {
    what: nearest
      ? `The agent called ${name} with arguments it did not use when this run was recorded`
      : `The agent called ${name} more often than when this run was recorded`,
    where: {
      ...whereMade(place),
      call: `${name} ${excerpt(args)}`,
      nearest: nearest ? describeStep(nearest) : 'none left',
    },
    ...(difference ? { detail: showDifference(difference) } : {}),
    why: 'The tape holds no answer for this call.',
    fix: [`to see the recorded steps: npx harvest show ${place.tape.header.id}`, anew],
  })
}

/** A `value()` that is read in a loop, or once more. */
export function readTooOften(tape: Tape, { name, recorded, read, site }: OftenRead): HarvestError {
  const times = (count: number): string => (count === 1 ? 'once' : `${count} times`)
  return new HarvestError('HARVEST_TAPE_EXHAUSTED', {
    what: `The agent read the value ${neutralLine(name)} more often than when this run was recorded`,
    where: { tape: tape.header.id, ...(site ? { at: site } : {}), value: `read ${read} times, recorded ${recorded}` },
    why: `It was recorded ${times(recorded)}. What it would be the next time is not known, so it was answered as the last time.`,
    fix: [`read it once and keep it, or record the run again and promote the new tape`],
  })
}

/** A request whose idempotency key is not shared with the requests it was shared with. */
export function otherKey(place: Place, step: ExchangeState, wrong: string): HarvestError {
  const { method, url } = step.event
  return new HarvestError('HARVEST_DIVERGENCE', {
    what: `The agent asked ${method} ${shortUrl(url)} with another idempotency key than when this run was recorded: ${wrong}`,
    where: { ...whereMade(place), nearest: describeStep(step) },
    why: 'A service takes requests with one key for one: with another, what was done once may be done twice, or not at all.',
    fix: ['send one key for all attempts of one request', anew],
  })
}

export function outOfOrder(place: Place, step: StepState, before: StepState): HarvestError {
  return new HarvestError('HARVEST_ORDER', {
    what: `The agent made ${describeStep(step)} before ${describeStep(before)} was answered`,
    where: whereMade(place),
    why: 'When this run was recorded, it waited for that answer first: the order of dependent steps has changed.',
    fix: [`to see the recorded order: npx harvest show ${place.tape.header.id}`, anew],
  })
}

export function unusedSteps(tape: Tape, unused: readonly StepState[]): HarvestError {
  const shown = unused.slice(0, 10).map((step) => `  - ${neutralLine(describeStep(step))}`)
  if (unused.length > shown.length) shown.push(`  … and ${unused.length - shown.length} more`)
  return new HarvestError('HARVEST_UNUSED', {
    what: `The agent left out ${unused.length} recorded step${unused.length === 1 ? '' : 's'}`,
    where: { tape: tape.header.id },
    detail: shown.join('\n'),
    why: 'The agent now takes fewer steps than it did when this run was recorded.',
    fix: [
      `to see the recorded steps: npx harvest show ${tape.header.id}`,
      unused.every(({ event }) => event.kind === 'tool' || event.kind === 'retrieval') ? accept : anew,
    ],
  })
}

export function escaped(place: Place, kind: string, target: string): HarvestError {
  return new HarvestError('HARVEST_ESCAPE', {
    what: `The agent reached the world around the seam: ${kind} ${neutral(target)}`,
    where: where(place),
    why: 'A replay must not depend on the world; this was refused.',
    fix: [
      `record it through a door: tool(), retriever() or value() from 'vitest-harvest/record'`,
      `or let it through: allow: ['${kind} ${neutral(target)}']`,
    ],
  })
}

export function escapedWhileLoading(kind: string, target: string): HarvestError {
  const site = userSite()
  return new HarvestError('HARVEST_ESCAPE', {
    what: `The agent reached the world while its modules were loading: ${kind} ${neutral(target)}`,
    ...(site ? { where: { at: site } } : {}),
    why: 'What happens before the run is on no tape; this was refused.',
    fix: [
      'connect inside the agent function, at its first call',
      `or let it through: allow: ['${kind} ${neutral(target)}']`,
    ],
  })
}

export function driftRefused(tape: Tape, drift: Drift): HarvestError {
  return new HarvestError('HARVEST_DRIFT', {
    what: `${drift.class} drift${drift.path === drift.class ? '' : ` at ${drift.path || 'the body'}`}, which this case does not allow`,
    where: { tape: tape.header.id, step: String(drift.stepNumber), ...(drift.site ? { at: drift.site } : {}) },
    detail: showDifference(drift),
    fix: [`if it is harmless: drift: { ${drift.class}: 'report' }`, anew],
  })
}

export function spinning(place: Place): HarvestError {
  return new HarvestError('HARVEST_CLOCK_SPIN', {
    what: 'The agent reads the clock over and over without letting anything else happen',
    where: where(place),
    why: 'A replay has a virtual clock: it moves with the tape, not with the time a loop takes.',
    fix: ['wait with a timer instead of a loop'],
  })
}

/** @param missing - the recorded step the replay waited for when it let that much time pass */
export function timedOut(place: Place, step: ExchangeState, ms: number, missing: StepState | undefined): HarvestError {
  const { at, response, error } = step.event
  const answeredAt = response?.end?.[1] ?? error?.moment[1] ?? at
  return new HarvestError('HARVEST_CLOCK', {
    what: `The client's time-out of ${duration(ms)} fired, and did not when this run was recorded`,
    where: {
      ...(missing ? { 'waiting for': `${describeStep(missing)}, which the agent has not asked` } : {}),
      'gave up': describeStep(step),
      ...where(place),
    },
    why: missing
      ? 'A replay lets time pass while it waits for a recorded request, and that request was never made.'
      : `The recorded answer took ${duration(answeredAt - at)}.`,
    fix: [
      ...(missing
        ? [`make the missing request again, or see why it is gone: npx harvest show ${place.tape.header.id}`]
        : []),
      `if the time-out was changed on purpose: record the run again and promote the new tape`,
    ],
  })
}

/** `600 s`, `250 ms` */
function duration(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${Math.round(ms / 100) / 10} s`
}

export function hanging(place: Place, waitedMs: number): HarvestError {
  return new HarvestError('HARVEST_AGENT_HANGS', {
    what: 'The agent never answered',
    where: { ...where(place), waited: `${Math.round(waitedMs)} ms of real time with nothing left to deliver` },
    why: 'It waits for something that is not on the tape.',
    fix: [`to see the recorded steps: npx harvest show ${place.tape.header.id}`],
  })
}

export function givenUp(place: Place, reason: unknown): HarvestError {
  return new HarvestError(
    'HARVEST_RUN_ABORTED',
    {
      what: 'The replay was given up before the agent answered',
      where: { ...where(place), reason: reason instanceof Error ? reason.message : String(reason) },
      why: 'The agent hangs, or the time limit is too short for what it computes.',
      fix: ['raise the time limit of the test, or see what the agent waits for'],
    },
    { cause: reason },
  )
}

export function undeliverable(place: Place, error: unknown): HarvestError {
  return new HarvestError(
    'HARVEST_DELIVERY',
    {
      what: 'A recorded answer could not be handed to the agent',
      where: {
        ...where(place),
        error: neutral(error instanceof Error ? `${error.name}: ${error.message}` : String(error)),
      },
      why: 'The client the agent uses now refuses what it was given when this run was recorded.',
      fix: ['see which client and version the tape was made with: npx harvest show'],
    },
    { cause: error },
  )
}

export function runOver(place: Place, kind: string, target: string): HarvestError {
  return new HarvestError('HARVEST_RUN_OVER', {
    what: `The agent went on after its replay was over: ${kind} ${neutral(target)}`,
    where: where(place),
    why: 'What it does now belongs to no test; it was refused.',
    fix: ['await everything the agent starts before it answers'],
  })
}

export function notOnTape(place: Place, command: readonly string[]): HarvestError {
  return new HarvestError('HARVEST_ESCAPE', {
    what: `The agent started a child process this tape does not know: ${neutral(command.join(' '))}`,
    where: where(place),
    why: 'Only children that spoke JSON-RPC over stdio when the run was recorded can be replayed.',
    fix: [`record it through a door: tool() or value() from 'vitest-harvest/record'`],
  })
}

function showDifference({ path, recorded, live }: Difference): string {
  const lines = (text: string): string => neutral(text).replaceAll('\n', '\n            ')
  return `  differs at ${path || 'the body'}\n  recorded  ${lines(recorded)}\n  now       ${lines(live)}`
}

function excerpt(text: string): string {
  return neutral(text.length > 200 ? `${text.slice(0, 200)}…` : text)
}
