// Over 300 lines: what can be wrong about a request, a message each.
import { type ErrorCode, HarvestError, shellWord } from '../../errors/index.ts'
import { neutral, neutralLine } from '../../errors/neutral.ts'
import { wordDiff } from '../../errors/word-diff.ts'
import { originOf, steadyPath, writtenOrigin } from '../../match/address.ts'
import { sameWhole } from '../../match/cut-request.ts'
import { type RequestDifference, bodyDifference, closeness, missingIn } from '../../match/difference.ts'
import type { Match, MatchRequest } from '../../match/matcher.ts'
import {
  type CallState,
  type ExchangeState,
  type StepState,
  commandOf,
  describeAsked,
  describeEvent,
  describeStep,
  isStep,
  shortUrl,
} from '../../match/step.ts'
import { sameTarget, targetOf } from '../../match/target.ts'
import { messageOf } from '../../seam/stdio.ts'
import { isEnding, type Json, type UnsearchedBody } from '../../tape/index.ts'
import type { StepOrder } from '../order.ts'
import {
  type Cause,
  type ProblemLocation,
  recordAgain,
  excerpt,
  seeSteps,
  showDifference,
  where,
  whereMade,
} from './place.ts'
import { promptLine } from './prompt.ts'

/** The recorded steps of a run, and what waited for what. */
interface Recorded {
  readonly steps: readonly (ExchangeState | CallState)[]
  readonly order: StepOrder
}

/**
 * The cause of a step made too early, when the step before it was not asked at all.
 *
 * @param reads - what may be asked later than `before`, which is what was left out first where it was not either
 */
export function unlessAsked(
  place: ProblemLocation,
  before: StepState,
  reads: readonly StepState[],
  instead: string,
): Cause {
  return () => {
    if (before.taken) return undefined
    const [first = before] = [...reads, before].filter(({ taken }) => !taken).toSorted((a, b) => a.event.n - b.event.n)
    return { error: wentOnWithout(place, first, instead), leftOut: first }
  }
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
  if (miss.kind !== 'none' || isEnding(question)) return undefined
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
  const made = `${promptLine(missed)}Made instead: ${neutral(instead)}`
  return new HarvestError(code, {
    what: `The agent skipped ${describeStep(missed)}`,
    where: whereMade(place),
    detail: difference ? `${made}\n\n${showDifference(difference)}` : made,
    why: 'The recorded steps after it were made with its answer.',
    fix: [
      `if it is still needed: make step ${missed.number} before the steps that follow it`,
      seeSteps(place),
      recordAgain,
    ],
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
    fix: ['restore the recorded query', seeSteps(place), recordAgain],
  })
}

export function noAnswer(
  place: ProblemLocation,
  question: MatchRequest,
  miss: Exclude<Match, { kind: 'found' }>,
): HarvestError {
  if (isEnding(question)) return endedOtherwise(place, question)
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
      why: difference
        ? 'All recorded responses of this address are used up: the agent takes more steps or repeats one.'
        : 'Every recorded answer to it was given: the agent takes more steps or repeats one.',
      fix: [seeSteps(place), recordAgain],
    })
  }
  const missing = difference && missingIn(nearest.bodyText, question.bodyText, difference.path)
  return new HarvestError('HARVEST_DIVERGENCE', {
    what: `No recorded response matches ${asked}`,
    where: { ...whereMade(place), nearest: describeStep(nearest) },
    ...(difference ? { detail: showDifference(difference, missing) } : {}),
    why:
      difference?.path === elsewhere
        ? 'The nearest recorded request went to another host, scheme or port.'
        : 'The nearest recorded request differs in content.',
    fix: [seeSteps(place), recordAgain],
  })
}

/** A request whose body has no end, and that no recorded one is. */
export function notEnded(place: ProblemLocation, question: MatchRequest, match: Match): HarvestError {
  const nearest = match.kind === 'found' ? match.step : match.kind === 'none' ? match.nearest : undefined
  const isSame = nearest !== undefined && samePlace(nearest, question)
  return new HarvestError('HARVEST_DIVERGENCE', {
    what: `The agent began ${askedText(place, question)} and did not end it`,
    where: { ...whereMade(place), nearest: nearest ? describeStep(nearest) : 'none: the tape holds no exchange' },
    why: isSame
      ? 'The recorded request has another beginning, or an end.'
      : 'The recorded run has no such request, and a server hears of one when it begins.',
    fix: ['if it is meant: end the request and await its answer', seeSteps(place), recordAgain],
  })
}

/** A request by method and address; what a client replies to its MCP server by what that asked. */
function askedText({ tape }: ProblemLocation, { via, method, url, bodyText }: MatchRequest): string {
  const reply = via === 'stdio' && method === 'response' ? messageOf(bodyText) : undefined
  if (reply === undefined) return describeAsked({ via, method, url }, bodyText)
  const asked = tape.events.flatMap((event) => {
    const message = event.kind === 'push' && event.url === url ? messageOf(event.text) : undefined
    return message?.method !== undefined && message.id === reply.id ? [message.method] : []
  })
  return `the reply to ${asked[0] ?? 'a request'} of ${shortUrl(url)}`
}

/** The agent ends a child in another way than when recorded, or ends one that it left alone then. */
function endedOtherwise(place: ProblemLocation, { method, url, bodyText }: MatchRequest): HarvestError {
  const steps = place.tape.events.filter(isStep)
  const at = steps.findIndex((event) => event.kind === 'exchange' && event.url === url && isEnding(event))
  const recorded = steps[at]
  const child = neutralLine(commandOf(url), 120)
  const how = method === 'END' ? `ended the input of ${child}` : `sent ${neutralLine(bodyText, 40)} to ${child}`
  return new HarvestError('HARVEST_DIVERGENCE', {
    what: `The agent ${how}, and ${recorded === undefined ? 'left it alone' : 'ended it in another way'} when recorded`,
    where: {
      ...whereMade(place),
      ...(recorded !== undefined && { recorded: `step ${at + 1}, ${neutralLine(describeEvent(recorded), 200)}` }),
    },
    why: 'A program may end in another way then, so what it did at its end when recorded proves nothing.',
    fix: [
      recorded === undefined ? 'leave the child alone again' : 'end the child as it was ended when recorded',
      seeSteps(place),
      recordAgain,
    ],
  })
}

function isOpenExchange(step: StepState): step is ExchangeState {
  return step.event.kind === 'exchange' && !step.taken
}

/** Where two requests differ that go to another scheme, host or port. */
const elsewhere = 'the host'

function questionDifference({ bodyText, event }: ExchangeState, question: MatchRequest): RequestDifference | undefined {
  const inBody = bodyDifference(bodyText, question.bodyText)
  const { headers } = event.request
  if (inBody !== undefined) return inBody
  const [before, now] = [writtenOrigin(event.url), writtenOrigin(question.url)]
  // The rest of the address is the same, and so are both lines above this one.
  if (originOf(event.url) !== originOf(question.url)) return { path: elsewhere, recorded: before, live: now }
  if (sameWhole(event.request.whole, question.whole) === 'other')
    return {
      path: 'the body, between its two ends',
      recorded: wholeText(event.request.whole),
      live: wholeText(question.whole),
    }
  if (sameTarget(headers, question.target)) return undefined
  const [recorded, live] = [targetOf(headers), question.target].map((target) => excerpt(target.trimEnd() || '(absent)'))
  return { path: 'headers', recorded: recorded!, live: live! }
}

function wholeText(whole: { readonly size: number; readonly sha256?: string } | undefined): string {
  if (whole === undefined) return 'all of it'
  const { size, sha256 } = whole
  return `${size} bytes${sha256 === undefined ? '' : `, SHA-256 ${sha256}`}`
}

/** Method and path are the same, regardless of the query. */
function samePlace(step: ExchangeState, question: MatchRequest): boolean {
  const path = (url: string): string => (URL.canParse(url) ? new URL(url).pathname : url)
  return step.event.method === question.method && path(step.event.url) === path(question.url)
}

function unknownCall(place: ProblemLocation, asked: string, nearest: ExchangeState | undefined): HarvestError {
  return new HarvestError('HARVEST_DIVERGENCE', {
    what: `The agent called ${asked}, which is not on the tape`,
    where: { ...whereMade(place), nearest: nearest ? describeStep(nearest) : 'none: the tape holds no exchange' },
    why: 'A replay has no network: only recorded requests are answered.',
    fix: [`to see the recorded steps: npx vitest-harvest show ${shellWord(place.tape.header.id)}`, recordAgain],
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
    fix: [recordAgain],
  })
}

function toolGone(place: ProblemLocation, asked: string, step: ExchangeState, tool: string): HarvestError {
  return new HarvestError('HARVEST_DIVERGENCE', {
    what: `The recorded answer to ${asked} calls the tool ${neutralLine(tool)}, which the agent no longer offers`,
    where: { ...whereMade(place), nearest: describeStep(step) },
    why: 'A model does not call a tool it is not offered, so the next steps were never recorded.',
    fix: [`offer ${neutralLine(tool)} again`, recordAgain],
  })
}

function contradicted(place: ProblemLocation, asked: string, step: ExchangeState, how: string): HarvestError {
  return new HarvestError('HARVEST_DIVERGENCE', {
    what: `The request ${asked} demands something its recorded answer does not do: ${neutralLine(how)}`,
    where: { ...whereMade(place), nearest: describeStep(step) },
    why: 'A model that follows the new request answers differently, and the next steps were never recorded.',
    fix: [
      `to see the recorded answer: npx vitest-harvest show ${shellWord(place.tape.header.id)} --step ${shellWord(step.number)}`,
      recordAgain,
    ],
  })
}

export function isQuery({ event }: StepState): boolean {
  return event.kind !== 'exchange' && event.driver !== undefined
}

/** The recorded text of a query, where the step is one: SQL, the words of a command, or its document. */
export function queryOf({ event }: StepState): { readonly query?: string } {
  if (event.kind === 'exchange' || event.driver === undefined) return {}
  const { sql, args, command } = (event.args ?? {}) as Record<string, Json | undefined>
  // Prisma has raw SQL among its arguments.
  const text = sql ?? (args as { readonly sql?: Json } | null | undefined)?.sql
  if (typeof text === 'string') return { query: excerpt(text.replaceAll(/\s+/g, ' ').trim()) }
  if (Array.isArray(args)) return { query: excerpt(args.map(word).join(' ')) }
  return command === undefined ? {} : { query: excerpt(word(command)) }
}

function word(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** A body that could not be searched is not on the tape: what it said cannot be compared, and what it answered not served. */
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
    why: `The recorder could not search it for secrets (${because[reason]}), and keeps nothing unsearched.`,
    fix: [
      'record the run again with content-encoding gzip, deflate, br or zstd, at most three at once',
      `or wrap the function that sends it in tool() from 'vitest-harvest/record', and record again`,
    ],
  })
}
