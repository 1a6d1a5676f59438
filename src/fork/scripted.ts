import { HarvestError, neutralLine } from '../errors/index.ts'
import { type CallEvent, encodeBytes, encodeValue, type ExchangeEvent, type Json, type Step } from '../tape/index.ts'
import type { MatchRequest } from '../match/matcher.ts'
import type { LiveRequest } from '../seam/intercept/index.ts'
import type { SeamCall } from '../seam/source.ts'
import type { ForkRun } from './fork-run.ts'
import type { ForkAnswer, Tail } from './plan.ts'

type Script = Extract<Tail, { from: 'script' }>['answer']
/** Virtual milliseconds an answer takes that someone makes up. */
const takesMs = 1

/** Asks a script, and puts what it answers into the shape of a tape. */
export const asEvent = {
  exchange(asked: MatchRequest & { readonly live: LiveRequest }, script: Script, n: number, run: ForkRun) {
    const event = exchangeAsked(asked, run)
    const answer = answerOf(script, event, n, run)
    return answer === undefined ? undefined : exchangeAnswered(event, answer)
  },

  call(call: SeamCall, args: Json, script: Script, n: number, run: ForkRun): CallEvent | undefined {
    const event: CallEvent = { kind: call.kind, n: 0, at: run.now, name: call.name, args }
    const answer = answerOf(script, event, n, run)
    if (answer === undefined) return undefined
    const settled = [0, event.at + takesMs] as const
    if ('error' in answer) return { ...event, settled, error: encodeValue(errorOf(answer.error)) }
    return { ...event, settled, result: 'result' in answer ? answer.result : asJson(answer.body) }
  },
}

/**
 * What a script says to a step.
 *
 * @throws HarvestError `HARVEST_FORK_SCRIPT`, which is a problem of the run too, where it throws or says what is no answer
 */
function answerOf(script: Script, asked: Step, n: number, run: ForkRun): ForkAnswer | undefined {
  let said: unknown
  try {
    said = script(asked, n)
  } catch (error) {
    throw run.problem(noAnswer(asked, n, { threw: error instanceof Error ? `${error.name}: ${error.message}` : error }))
  }
  if (said === undefined || isAnswer(said)) return said
  throw run.problem(noAnswer(asked, n, { answered: said instanceof Promise ? 'a promise' : JSON.stringify(said) }))
}

function isAnswer(said: unknown): said is ForkAnswer {
  if (typeof said !== 'object' || said === null) return false
  if ('error' in said) return typeof (said.error as { readonly message?: unknown } | null)?.message === 'string'
  return ('body' in said && said.body !== undefined) || ('result' in said && said.result !== undefined)
}

function noAnswer(asked: Step, n: number, did: Readonly<Record<string, unknown>>): HarvestError {
  const said = Object.entries(did).map(([how, what]) => [how, neutralLine(String(what), 200)])
  return new HarvestError('HARVEST_FORK_SCRIPT', {
    what: 'The script of the tail gave no answer, so this fork is ungraded',
    where: { asked: neutralLine('url' in asked ? asked.url : asked.name, 120), n: `${n}`, ...Object.fromEntries(said) },
    fix: [
      'return one of: { body: … } or { body: …, status: 503 }, { result: … }, { error: { message: "…" } }; undefined where it has none',
    ],
  })
}

/** A request of the agent as a tape would say it, without its answer. */
export function exchangeAsked({ live, url, bodyText }: MatchRequest & { readonly live: LiveRequest }, run: ForkRun) {
  const event: ExchangeEvent = {
    kind: 'exchange',
    n: 0,
    at: run.now,
    via: live.via,
    method: live.method,
    url,
    request: requestOf(live, bodyText, run),
  }
  return event
}

/** What is written down of a request. */
export function requestOf(
  live: Pick<LiveRequest, 'headers'>,
  bodyText: string,
  run: ForkRun,
): ExchangeEvent['request'] {
  const binary = /^\ud800base64:/.exec(bodyText)?.[0]
  const body = binary === undefined ? bodyText : encodeBytes(Buffer.from(bodyText.slice(binary.length), 'base64'))
  return { headers: run.redactor.requestHeaders(live.headers), ...(body === '' ? {} : { body }) }
}

function exchangeAnswered(event: ExchangeEvent, answer: ForkAnswer): ExchangeEvent {
  const moment = [0, event.at + takesMs] as const
  if ('error' in answer) {
    const { name = 'Error', message, code } = answer.error
    return { ...event, error: { name, message, ...(code === undefined ? {} : { code }), moment } }
  }
  const body = 'result' in answer ? answer.result : answer.body
  const { status = 200, headers = {} } = 'body' in answer ? answer : {}
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const type = typeof body === 'string' ? typeOf(body) : 'application/json'
  const given = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const)
  const isTyped = given.some(([name]) => name === 'content-type')
  return {
    ...event,
    response: {
      moment,
      status,
      headers: isTyped ? given : [['content-type', type], ...given],
      chunks: text === '' ? [] : [[...moment, encodeBytes(Buffer.from(text))]],
      end: moment,
    },
  }
}

function typeOf(text: string): string {
  if (/^\s*[[{]/.test(text)) return 'application/json'
  return /^(?:data|event|id|retry|):/.test(text) ? 'text/event-stream' : 'text/plain'
}

function errorOf({
  name = 'Error',
  message,
  code,
}: {
  readonly name?: string
  readonly message: string
  readonly code?: string
}) {
  const error = Object.assign(new Error(message), code === undefined ? {} : { code })
  if (name !== 'Error') Object.defineProperty(error, 'name', { value: name })
  return error
}

function asJson(body: string | Json): Json {
  return body
}
