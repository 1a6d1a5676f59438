import { type ErrorCode, HarvestError } from '../errors/index.ts'
import { neutral, neutralLine, visible } from '../errors/neutral.ts'
import { wordDiff } from '../errors/word-diff.ts'
import { captureStack, siteIn, userSite } from '../seam/caller.ts'
import { type Driver, doorOf, driverIn } from '../seam/clients/drivers.ts'
import { knownAddOn } from '../seam/known-add-ons.ts'
import { messageOf } from '../seam/stdio.ts'
import type { Json, Tape, UnsearchedBody } from '../tape/index.ts'
import { bodyDifference, closeness, type RequestDifference } from '../match/difference.ts'
import type { OftenRead } from '../match/calls.ts'
import type { Match, MatchRequest } from '../match/matcher.ts'
import type { StepOrder } from './order.ts'
import { type CallState, describeStep, type ExchangeState, isStep, type StepState, shortUrl } from '../match/step.ts'
import { steadyPath } from '../match/address.ts'
import { placeOfMock, timersOnFakeClock } from './mocks.ts'
import { confinement, type Mocked } from '../seam/intercept/index.ts'
import { sameTarget, targetOf } from '../match/target.ts'
import type { Drift, DriftClass, NotRevived } from '../match/types.ts'

/** Tool calls left out need no answer: a baseline without them is enough. */
const accept = 'if the new behaviour is right: npx vitest-harvest test --update-recordings --reason "…"'
/** Nothing on the tape answers the new behaviour: only a new tape does. */
const anew = 'if the new behaviour is right: record the run again and promote the new tape'

/** What is known about the place a problem happened. */
export interface ProblemLocation {
  readonly tape: Tape
  /** `file:line:column` of the user's code, if a frame of it was on the stack. */
  readonly site: string | undefined
  /** The step served last, for when there is no site. */
  readonly after: StepState | undefined
  /** How many steps the agent had made before. */
  readonly made: number
}

function where({ tape, site, after }: ProblemLocation): Record<string, string> {
  return {
    tape: tape.header.id,
    ...(site ? { at: site } : {}),
    ...(after ? { after: describeStep(after) } : { after: 'the start of the run' }),
  }
}

/** As {@link where}, for an agent that waits: also for a timer that nobody fires. */
function whereWaiting(place: ProblemLocation): Record<string, string> {
  const count = timersOnFakeClock()
  if (count === 0) return where(place)
  const at = placeOfMock('timers')
  return {
    ...where(place),
    timers: `${count} on the clock of fake timers, which does not move${at === undefined ? '' : `   (${at})`}`,
  }
}

const useRealTimers = 'if it waits for a fake timer: call vi.useRealTimers() before the agent is loaded'

/** As {@link where}, for a step the agent makes: with its number. */
function whereMade(place: ProblemLocation): Record<string, string> {
  const recorded = place.tape.events.filter(isStep).length
  const { tape, ...rest } = where(place)
  return { tape: tape ?? '', step: `${place.made + 1} of this replay (${recorded} recorded)`, ...rest }
}

/** What the end of a run tells about a problem noted before; `undefined` when it was what it looked like. */
export type Cause = () => { readonly error: HarvestError; readonly leftOut?: StepState } | undefined

/** The recorded steps of a run, and what waited for what. */
interface Recorded {
  readonly steps: readonly (ExchangeState | CallState)[]
  readonly order: StepOrder
}

/** The cause of a step made too early, when the step before it was not asked at all. */
export function unlessAsked(place: ProblemLocation, before: StepState, instead: string): Cause {
  return () => (before.taken ? undefined : { error: wentOnWithout(place, before, instead), leftOut: before })
}

/**
 * The cause of a request no recorded answer is for: a step that the agent left out before it, or went on without after
 * it, or one that it asked with another query.
 */
export function missCause(
  place: ProblemLocation,
  question: MatchRequest,
  miss: Exclude<Match, { kind: 'found' }>,
  { steps, order }: Recorded,
): Cause | undefined {
  if (miss.kind !== 'none') return undefined
  const asked = `${question.method} ${shortUrl(question.url)}`
  const due = steps.find((step) => !step.taken)
  const sameQuery = miss.nearest && steadyPath(miss.nearest.event) === steadyPath(question)
  if (miss.exhausted && !sameQuery) {
    const meant = steps.filter((step) => isOpenExchange(step) && samePlace(step, question))
    return () => {
      const open = mostAlike(meant.filter(isOpenExchange), question)
      if (open) return { error: otherQuery(place, question, open) }
      return passedOver(place, due, steps, asked)
    }
  }
  if (miss.exhausted || !miss.nearest) return () => passedOver(place, due, steps, `${asked} once more than recorded`)
  const { nearest } = miss
  const { early, skipped } = order.look(nearest)
  const before = [...(early ? [early] : []), ...skipped]
  // What asks the same address is the question itself, with other words in it.
  if (before.some((step) => step.event.kind === 'exchange' && samePlace(step as ExchangeState, question)))
    return undefined
  return () => {
    const [missed] = before.filter((step) => !step.taken).toSorted((a, b) => a.event.n - b.event.n)
    if (!missed) return undefined
    const difference = questionDifference(nearest, question)
    const instead = `${asked}, which is nearest to ${describeStep(nearest)}`
    return { error: wentOnWithout(place, missed, instead, difference, 'HARVEST_DIVERGENCE'), leftOut: missed }
  }
}

/** A call more than recorded stands for the step that was due when it was made, if later ones were made and that one never was. */
export function passedOver(
  place: ProblemLocation,
  due: StepState | undefined,
  steps: readonly StepState[],
  instead: string,
): ReturnType<Cause> {
  if (!due || due.taken || !steps.some((step) => step.served && step.event.n > due.event.n)) return undefined
  return { error: wentOnWithout(place, due, instead, undefined, 'HARVEST_TAPE_EXHAUSTED'), leftOut: due }
}

function wentOnWithout(
  place: ProblemLocation,
  missed: StepState,
  instead: string,
  difference?: RequestDifference,
  code: ErrorCode = 'HARVEST_ORDER',
): HarvestError {
  const made = `Made instead: ${neutral(instead)}`
  return new HarvestError(code, {
    what: `The agent skipped ${describeStep(missed)}`,
    where: whereMade(place),
    detail: difference ? `${made}\n\n${showDifference(difference)}` : made,
    why: 'The recorded steps after it were made with its answer.',
    fix: [`if it is still needed: make step ${missed.number} before that again`, seeSteps(place), anew],
  })
}

function mostAlike(steps: readonly ExchangeState[], { url }: MatchRequest): ExchangeState | undefined {
  const score = (step: ExchangeState): number => closeness(step.event.url, url)
  return steps.reduce<ExchangeState | undefined>(
    (best, step) => (best && score(best) >= score(step) ? best : step),
    undefined,
  )
}

/** The same address, asked with another query. */
function otherQuery(place: ProblemLocation, question: MatchRequest, recorded: ExchangeState): HarvestError {
  const query = (url: string): string => (URL.canParse(url) ? new URL(url).search.slice(1) : url)
  const path = shortUrl(question.url).replace(/\?.*$/s, '')
  return new HarvestError('HARVEST_DIVERGENCE', {
    what: `The agent asked ${question.method} ${path} with another query`,
    where: {
      ...whereMade(place),
      nearest: describeStep(recorded),
      changed: wordDiff(query(recorded.event.url), query(question.url)),
    },
    why: 'The recorded answer is for the recorded query; for another one the service may answer something else.',
    fix: ['ask with the recorded query again', seeSteps(place), anew],
  })
}

export function noAnswer(
  place: ProblemLocation,
  question: MatchRequest,
  miss: Exclude<Match, { kind: 'found' }>,
): HarvestError {
  const asked = askedText(place, question)
  if (miss.kind === 'ambiguous') return ambiguous(place, asked, miss.candidates)
  if (miss.kind === 'toolGone') return toolGone(place, asked, miss.step, miss.tool)
  if (miss.kind === 'contradicted') return contradicted(place, asked, miss.step, miss.how)
  const { nearest } = miss
  if (!nearest || (miss.exhausted && steadyPath(nearest.event) !== steadyPath(question)))
    return unknownCall(place, asked, nearest)
  const difference = questionDifference(nearest, question)
  if (miss.exhausted) {
    return new HarvestError('HARVEST_TAPE_EXHAUSTED', {
      what: `The agent made a request more often than recorded: ${asked}`,
      where: { ...whereMade(place), nearest: describeStep(nearest) },
      ...(difference ? { detail: showDifference(difference) } : {}),
      why: 'All recorded responses of this address are used up: the agent takes more steps or repeats one.',
      fix: [seeSteps(place), anew],
    })
  }
  return new HarvestError('HARVEST_DIVERGENCE', {
    what: `No recorded response matches ${asked}`,
    where: { ...whereMade(place), nearest: describeStep(nearest) },
    ...(difference ? { detail: showDifference(difference) } : {}),
    why: 'The nearest recorded request differs in content.',
    fix: [seeSteps(place), anew],
  })
}

/** A request by method and address; what a client replies to its MCP server by what that asked. */
function askedText({ tape }: ProblemLocation, { via, method, url, bodyText }: MatchRequest): string {
  const reply = via === 'stdio' && method === 'response' ? messageOf(bodyText) : undefined
  if (reply === undefined) return `${method} ${shortUrl(url)}`
  const asked = tape.events.flatMap((event) => {
    const message = event.kind === 'push' && event.url === url ? messageOf(event.text) : undefined
    return message?.method !== undefined && message.id === reply.id ? [message.method] : []
  })
  return `the reply to ${asked[0] ?? 'a request'} of ${shortUrl(url)}`
}

function seeSteps({ tape }: ProblemLocation): string {
  return `to see the recorded steps: npx vitest-harvest show ${tape.header.id}`
}

function isOpenExchange(step: StepState): step is ExchangeState {
  return step.event.kind === 'exchange' && !step.taken
}

function questionDifference({ bodyText, event }: ExchangeState, question: MatchRequest): RequestDifference | undefined {
  const inBody = bodyDifference(bodyText, question.bodyText)
  const { headers } = event.request
  if (inBody !== undefined || sameTarget(headers, question.target)) return inBody
  const [recorded, live] = [targetOf(headers), question.target].map((target) => excerpt(target.trimEnd() || '(absent)'))
  return { path: 'headers', recorded: recorded!, live: live! }
}

/** Method and path are the same, whatever the query. */
function samePlace(step: ExchangeState, question: MatchRequest): boolean {
  const path = (url: string): string => (URL.canParse(url) ? new URL(url).pathname : url)
  return step.event.method === question.method && path(step.event.url) === path(question.url)
}

function unknownCall(place: ProblemLocation, asked: string, nearest: ExchangeState | undefined): HarvestError {
  return new HarvestError('HARVEST_DIVERGENCE', {
    what: `The agent called ${asked}, which is not on the tape`,
    where: { ...whereMade(place), nearest: nearest ? describeStep(nearest) : 'none: the tape holds no exchange' },
    why: 'A replay has no network: only recorded requests are answered.',
    fix: [`to see the recorded steps: npx vitest-harvest show ${place.tape.header.id}`, anew],
  })
}

function ambiguous(place: ProblemLocation, asked: string, candidates: readonly ExchangeState[]): HarvestError {
  return new HarvestError('HARVEST_AMBIGUOUS', {
    what: `Several recorded conversations match ${asked} equally well`,
    where: {
      ...whereMade(place),
      ...Object.fromEntries(candidates.map((step, i) => [`candidate ${i + 1}`, describeStep(step)])),
    },
    why: 'The request was changed, and a guess could serve the wrong answer.',
    fix: [anew],
  })
}

function toolGone(place: ProblemLocation, asked: string, step: ExchangeState, tool: string): HarvestError {
  return new HarvestError('HARVEST_DIVERGENCE', {
    what: `The recorded answer to ${asked} calls the tool ${neutralLine(tool)}, which the agent no longer offers`,
    where: { ...whereMade(place), nearest: describeStep(step) },
    why: 'A model does not call a tool it is not offered, so the next steps were never recorded.',
    fix: [`offer ${neutralLine(tool)} again`, anew],
  })
}

function contradicted(place: ProblemLocation, asked: string, step: ExchangeState, how: string): HarvestError {
  return new HarvestError('HARVEST_DIVERGENCE', {
    what: `The request ${asked} demands something its recorded answer does not do: ${neutralLine(how)}`,
    where: { ...whereMade(place), nearest: describeStep(step) },
    why: 'A model that follows the new request answers differently, and the next steps were never recorded.',
    fix: [`to see the recorded answer: npx vitest-harvest show ${place.tape.header.id} --step ${step.number}`, anew],
  })
}

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
    fix: [`to see the recorded steps: npx vitest-harvest show ${place.tape.header.id}`, anew],
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
      ? 'The recorded rows are those of another question.'
      : "The model's decision is recorded, so the agent's code changed the arguments.",
    fix: [`to see the recorded steps: npx vitest-harvest show ${place.tape.header.id}`, anew],
  })
}

function isQuery({ event }: StepState): boolean {
  return event.kind !== 'exchange' && event.driver !== undefined
}

/** The recorded text of a query, where the step is one. */
function queryOf({ event }: StepState): { readonly query?: string } {
  const { sql } = (event.kind === 'exchange' ? {} : (event.args ?? {})) as { readonly sql?: Json }
  return typeof sql === 'string' && isQuery({ event } as StepState)
    ? { query: excerpt(sql.replaceAll(/\s+/g, ' ').trim()) }
    : {}
}

/** The body of a wrapped function made something else of the recorded arguments. */
export function otherResult(
  tape: Tape,
  step: StepState,
  { part: name, path, recorded, live, site }: Drift,
): HarvestError {
  return new HarvestError('HARVEST_RESULTS', {
    what: `The code of ${name} no longer returns its recorded result`,
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
    why: 'Its body ran with the recorded arguments, and ended without asking for them.',
    fix: [
      'look for a lost `await` or a cached answer',
      'if the new behaviour is right: record the run again and promote the new tape',
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

export function outOfOrder(place: ProblemLocation, step: StepState, before: StepState): HarvestError {
  return new HarvestError('HARVEST_ORDER', {
    what: `The agent made ${describeStep(step)}, before step ${before.number} was answered`,
    where: { ...whereMade(place), 'waited for': describeStep(before) },
    why: 'In the recording it waited for that answer first.',
    fix: [
      'if the order matters: look for a lost `await`',
      `to see the recorded order: npx vitest-harvest show ${place.tape.header.id}`,
      anew,
    ],
  })
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
  const { facts, cause } = error
  const sdk = `${neutral(changes.join('; '))} since this run was recorded`
  return new HarvestError(
    error.code,
    { ...facts, where: { ...facts.where, SDK: sdk } },
    cause === undefined ? {} : { cause },
  )
}

/** A difference with the recorded answers beside it that the agent did not get as they were, where there are such. */
export function withLosses(error: HarvestError, lost: readonly NotRevived[]): HarvestError {
  const [first, ...more] = lost
  if (first === undefined) return error
  const { facts, cause } = error
  const { name, stepNumber, part, at, what } = first
  const place = at === '' ? '' : ` at ${at}`
  const said = `step ${stepNumber}, ${name}: the recorded ${part} was a \`${what}\`${place}; revive it`
  return new HarvestError(
    error.code,
    {
      ...facts,
      where: {
        ...facts.where,
        'not revived': neutralLine(said, 300) + (more.length > 0 ? ` (and ${more.length} more)` : ''),
      },
      fix: [...(facts.fix ?? []), `to restore it: tool(${neutralLine(name, 60)}, { revive: (recorded) => … })`],
    },
    cause === undefined ? {} : { cause },
  )
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
      `to see the recorded steps: npx vitest-harvest show ${tape.header.id}`,
      unused.every(({ event }) => event.kind === 'tool' || event.kind === 'retrieval') ? accept : anew,
    ],
  })
}

/** The agent returned while an action was under way whose answer the recorded agent waited for. */
export function notAwaited(tape: Tape, step: StepState): HarvestError {
  return new HarvestError('HARVEST_NOT_AWAITED', {
    what: 'The agent returned without waiting for an action',
    where: { tape: tape.header.id, action: neutralLine(describeStep(step)) },
    why: 'The recorded agent had its answer before it returned; now an error of it goes unseen.',
    fix: [
      'put `await` before the call in the agent',
      `to see the recorded step: npx vitest-harvest show ${tape.header.id} --step ${step.number}`,
      anew,
    ],
  })
}

/** @param madeAt - the stack at the place it was asked for, where that is gone by now */
export function escaped(place: ProblemLocation, kind: string, target: string, madeAt?: Error): HarvestError {
  if (kind === 'add-on' && confinement() !== 'strict') return nativeCode(target, where(place))
  if (kind.endsWith(' subscription')) return subscribed(place, kind, target)
  const driver = driverIn((madeAt ?? captureStack()).stack ?? '')
  if (driver !== undefined) return rawClient(driver, kind, target, where(place))
  return new HarvestError('HARVEST_ESCAPE', {
    what: `Blocked real I/O during replay: ${kind} ${neutral(target)}`,
    where: where(place),
    why: 'The recorder cannot see it, so the tape has no answer for it.',
    fix: [
      `wrap the function that does it in tool(), retriever() or value() from 'vitest-harvest/record', and record again`,
      ...(isConfined(kind) ? [unconfined(place.tape.header.agent)] : [allowed(kind, target)]),
    ],
  })
}

/** A client of a database or cache that is not behind the seam. */
function rawClient(driver: Driver, kind: string, target: string, at: Readonly<Record<string, string>>): HarvestError {
  return new HarvestError('HARVEST_ESCAPE', {
    what: `Blocked a connection of ${driver} during replay: ${kind} ${neutral(target)}`,
    where: at,
    why: 'The client is not behind the seam, so its queries are not on the tape.',
    fix: [
      `wrap the client: ${doorOf(driver)}, with client from 'vitest-harvest/record', and record again`,
      allowed(kind, target),
    ],
  })
}

/** Messages that a server sends when it likes. */
function subscribed(place: ProblemLocation, kind: string, target: string): HarvestError {
  return new HarvestError('HARVEST_ESCAPE', {
    what: `A replay cannot answer this ${neutral(kind)}: ${excerpt(target)}`,
    where: where(place),
    why: 'Its messages come when the server sends them, and belong to no step.',
    fix: ['subscribe outside of the agent, and pass it each message as its input', allowed(kind, target)],
  })
}

/** Native code does its I/O beneath Node: that it was loaded is all there is to see. */
function nativeCode(name: string, where: Readonly<Record<string, string>>): HarvestError {
  const known = knownAddOn(name)
  return new HarvestError('HARVEST_ESCAPE', {
    what: `Blocked native code during replay: add-on ${neutral(name)}`,
    where,
    why:
      known === undefined
        ? 'What it reaches is unknown, and no recorder sees it.'
        : `It ${known.why}, where no recorder sees it.`,
    fix: [
      `import it inside a function wrapped in tool() or value() from 'vitest-harvest/record', and record again`,
      `if its answers need no recording: allow: ['add-on ${neutral(name)}']`,
    ],
  })
}

function allowed(kind: string, target: string): string {
  return `if a test may reach it: allow: ['${kind} ${neutral(target)}']`
}

/** What only a confined process refuses: a list of exceptions would not open it. */
function isConfined(kind: string): boolean {
  return kind === 'FileSystemWrite' || kind === 'add-on' || kind === 'node:sqlite'
}

function unconfined(agent: string): string {
  return `if this agent needs it: confine: { default: 'strict', agents: { '${neutralLine(agent)}': 'seam' } }`
}

/** @param what - what a mock answers for, because it was there before the replay */
export function mocked(place: ProblemLocation, what: Exclude<Mocked, 'timers'>): HarvestError {
  const at = placeOfMock(what)
  const file = at?.replace(/:\d+$/, '') ?? 'the set-up file'
  return new HarvestError('HARVEST_MOCKED', {
    what: `A mock answers the agent's ${what === 'fetch' ? '`fetch`' : 'HTTP requests'} instead of the tape`,
    where: { ...where(place), ...(at === undefined ? {} : { mock: at }) },
    why: 'The mock was installed before vitest-harvest, so requests never reach the replay.',
    fix: [
      `make \`import 'vitest-harvest/vitest'\` the first line of ${file}`,
      'or install the mock in the tests that need it, with beforeEach()',
    ],
  })
}

export function escapedWhileLoading(kind: string, target: string, madeAt?: Error): HarvestError {
  const site = madeAt ? siteIn(madeAt) : userSite()
  const at: Readonly<Record<string, string>> = site ? { at: site } : {}
  if (kind === 'add-on' && confinement() !== 'strict') return nativeCode(target, at)
  const driver = driverIn((madeAt ?? captureStack()).stack ?? '')
  if (driver !== undefined) return rawClient(driver, kind, target, at)
  return new HarvestError('HARVEST_ESCAPE', {
    what: `Blocked real I/O while the agent was loading: ${kind} ${neutral(target)}`,
    ...(site ? { where: { at: site } } : {}),
    why: 'It happens before the run starts, so it is never recorded.',
    fix: [
      ...(isConfined(kind)
        ? [unconfined('its name')]
        : ['connect inside the agent function, at its first call', allowed(kind, target)]),
    ],
  })
}

/** A difference that makes it another behaviour. */
export function driftRefused(tape: Tape, drift: Drift, isStrict: boolean): HarvestError {
  const { class: name, stepNumber, site, words } = drift
  return new HarvestError('HARVEST_DRIFT', {
    what: refusal(drift, isStrict),
    where: {
      tape: tape.header.id,
      step: String(stepNumber),
      ...(site ? { at: site } : {}),
      ...(drift.path === '' || drift.path === drift.part ? {} : { path: drift.path }),
    },
    detail: words === '' ? showDifference(drift) : `  changed  ${words}`,
    ...(isStrict ? {} : { why: reasons[name] ?? 'The config or the case sets this class of drift to `fail`.' }),
    fix: isStrict
      ? ['to compare what the agent does instead of every byte: npx vitest-harvest replay']
      : [
          `to see the recorded step: npx vitest-harvest show ${tape.header.id} --step ${stepNumber}`,
          anew,
          `if such a change is harmless: drift: { ${name}: 'report' }`,
        ],
  })
}

function refusal({ class: name, part }: Drift, isStrict: boolean): string {
  if (isStrict) return `Not as recorded: ${neutralLine(part === '' ? name : part)}`
  const shown = neutralLine(part)
  switch (name) {
    case 'arguments':
      return `The agent called ${shown} with other arguments than when this run was recorded`
    case 'destination':
      return 'The agent sent a request that changes data to another host than when this run was recorded'
    case 'results':
      return `${shown} returned a different value than recorded`
    case 'redacted':
      return `The agent sent another value where the tape has a placeholder: ${shown}`
    case 'awaits':
      return `The agent returned without waiting for ${shown}`
    case 'timers':
      return `The agent waits for another time than when this run was recorded: ${shown}`
    case 'guards':
    case 'credentials':
    case 'headers':
      return `The agent sent a request with other headers than when this run was recorded: ${shown}`
    case 'agentMessages':
    case 'marks':
    case 'states':
      return `The agent's ${shown} is not as recorded`
    default:
      return `The question to the model changed: ${shown}`
  }
}

const reasons: Readonly<Partial<Record<DriftClass, string>>> = {
  arguments: 'The model answered as recorded, so only the code of the agent can have changed what it passes on.',
  destination: 'What was done at one host is now done at another.',
  results: 'The tool ran with the recorded arguments, so its code returns something else.',
  guards:
    'The service was asked to do it under this condition, or to take two requests for one. Now it would act otherwise.',
  credentials: 'The tape numbers the keys of a run and holds none. A test may use any values, one for each key.',
  redacted:
    'The tape holds a placeholder and the keyed fingerprint of its value, which is not that of the value sent now.',
  agentMessages: 'Another agent gets a different message.',
}

export function spinning(place: ProblemLocation): HarvestError {
  return new HarvestError('HARVEST_CLOCK_SPIN', {
    what: 'Busy loop: the agent polls the clock without yielding',
    where: where(place),
    why: 'The clock of a replay only moves while the agent waits.',
    fix: ['wait with setTimeout() in place of the loop'],
  })
}

/** @param missing - the recorded step the replay waited for when it let that much time pass */
export function timedOut(
  place: ProblemLocation,
  step: ExchangeState,
  ms: number,
  missing: StepState | undefined,
): HarvestError {
  const { at, response, error } = step.event
  const answeredAt = response?.end?.[1] ?? error?.moment[1] ?? at
  return new HarvestError('HARVEST_CLOCK', {
    what: `The client's time-out of ${duration(ms)} fired; it did not when this run was recorded`,
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
        ? [`make the missing request again, or see why it is gone: npx vitest-harvest show ${place.tape.header.id}`]
        : []),
      `if the time-out was changed on purpose: record the run again and promote the new tape`,
    ],
  })
}

/** `600 s`, `250 ms` */
function duration(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${Math.round(ms / 100) / 10} s`
}

/** @param next - the first recorded step the agent has not asked */
export function hanging(place: ProblemLocation, waitedMs: number, next?: StepState): HarvestError {
  return new HarvestError('HARVEST_AGENT_TIMEOUT', {
    what: 'The agent never answered',
    where: {
      ...whereWaiting(place),
      ...(next ? { next: `${describeStep(next)}, which the agent has not asked` } : {}),
      waited: `${Math.round(waitedMs)} ms of real time with nothing left to deliver`,
    },
    why: next
      ? 'It waits for something that is not on the tape.'
      : 'It made all recorded steps, then waits for something that is not on the tape.',
    fix: [
      ...(timersOnFakeClock() > 0 ? [useRealTimers] : []),
      `to see the recorded steps: npx vitest-harvest show ${place.tape.header.id}`,
    ],
  })
}

export function givenUp(place: ProblemLocation, reason: unknown): HarvestError {
  return new HarvestError(
    'HARVEST_RUN_ABORTED',
    {
      what: 'The replay was stopped before the agent answered',
      where: { ...whereWaiting(place), reason: reason instanceof Error ? reason.message : String(reason) },
      why: 'The agent hangs, or the time limit is too short.',
      fix: [seeSteps(place), 'to give it more time: raise the time limit of the test'],
    },
    { cause: reason },
  )
}

export function undeliverable(place: ProblemLocation, error: unknown): HarvestError {
  return new HarvestError(
    'HARVEST_DELIVERY',
    {
      what: "The agent's client refused a recorded response",
      where: {
        ...where(place),
        error: neutral(error instanceof Error ? `${error.name}: ${error.message}` : String(error)),
      },
      why: 'It accepted this response when recorded: its version may have changed.',
      fix: [`to see which client recorded it: npx vitest-harvest show ${place.tape.header.id}`],
    },
    { cause: error },
  )
}

export function runOver(place: ProblemLocation, kind: string, target: string): HarvestError {
  return new HarvestError('HARVEST_RUN_OVER', {
    what: `Blocked real I/O after the run ended: ${kind} ${neutral(target)}`,
    where: where(place),
    why: 'The agent started work that it did not await.',
    fix: ['await everything the agent starts before it returns'],
  })
}

/** @param name - the case whose agent it was */
export function afterRun(name: string, kind: string, target: string): HarvestError {
  const site = userSite()
  return new HarvestError('HARVEST_RUN_OVER', {
    what: `Blocked real I/O after the run: ${kind} ${neutral(target)}`,
    where: { case: name, ...(site === undefined ? {} : { at: site }) },
    why: 'The agent started work that continued after it answered.',
    fix: [
      'await everything the agent starts before it returns, and stop what its modules start',
      `if a test may reach it: allow: ['${kind} ${neutral(target)}']`,
    ],
  })
}

/** A body that nobody could search is not on the tape: what it said cannot be compared, and what it answered not served. */
export function bodyNotRecorded(
  place: ProblemLocation,
  step: ExchangeState,
  { size, coding, reason }: UnsearchedBody,
): HarvestError {
  const because = {
    coding: 'its coding is unknown',
    damaged: 'it is not in this coding',
    size: 'it is too large',
  }
  return new HarvestError('HARVEST_BODY_UNSEARCHED', {
    what: `The body was not recorded: ${describeStep(step)}`,
    where: { ...where(place), body: `${size} bytes, content-encoding: ${neutralLine(coding, 100)}` },
    why: `The recorder could not look for secrets in it (${because[reason]}), and keeps nothing unsearched.`,
    fix: [
      'record the run again with a coding of gzip, deflate, br or zstd, at most three of them',
      `or wrap the function that sends it in tool() from 'vitest-harvest/record', and record again`,
    ],
  })
}

export function notOnTape(place: ProblemLocation, command: readonly string[]): HarvestError {
  return new HarvestError('HARVEST_ESCAPE', {
    what: `Blocked a child process that is not on the tape: ${neutral(command.join(' '))}`,
    where: where(place),
    why: 'Only child processes that speak JSON over stdio, one message a line, can be replayed.',
    fix: [`wrap the function that starts it in tool() or value() from 'vitest-harvest/record', and record again`],
  })
}

/** @param command - of a program that the recorded run started as well */
export function startedOtherwise(place: ProblemLocation, command: readonly string[]): HarvestError {
  return new HarvestError('HARVEST_ESCAPE', {
    what: `Blocked a child process started otherwise, or more often, than recorded: ${neutral(command.join(' '))}`,
    where: where(place),
    fix: ['if the new behaviour is right: record the run again and promote the new tape'],
  })
}

export function notStarted(tape: Tape, command: readonly string[]): HarvestError {
  return new HarvestError('HARVEST_UNUSED', {
    what: `The agent left out a recorded child process: ${neutral(command.join(' '))}`,
    where: { tape: tape.header.id },
    fix: [
      `to see the recorded steps: npx vitest-harvest show ${tape.header.id}`,
      'if the new behaviour is right: record the run again and promote the new tape',
    ],
  })
}

function showDifference({ path, recorded, live }: RequestDifference): string {
  const lines = (text: string): string => visible(neutral(text)).replaceAll('\n', '\n            ')
  return `  differs at ${path || 'the body'}\n  recorded  ${lines(recorded)}\n  now       ${lines(live)}`
}

function excerpt(text: string): string {
  return visible(neutral(text.length > 200 ? `${text.slice(0, 200)}…` : text))
}
