import { relative } from 'node:path'
import type { Case } from '../../cases/index.ts'
import { shellWord } from '../../errors/index.ts'
import { at, textAt } from '../../json/canonical.ts'
import { decodeBody, readModelCall, type Usage } from '../../providers/index.ts'
import { importedModelCall } from '../../providers/imported-model-call.ts'
import { type ExchangeEvent, type HeaderPair, requestBytes, type Step, stepsOf, type Tape } from '../../tape/index.ts'
import { valueText } from '../conversation.ts'
import { bodyText, decodedResponse, headerOf, signature } from '../describe.ts'
import type { Opened } from '../diff/facts.ts'
import { outcomeText } from '../end.ts'
import { runTookMs } from '../head.ts'
import { messageText, pushText, type RunStep } from '../run.ts'
import { SharedBodies } from './bodies.ts'
import { Prompts } from './messages.ts'
import type { Texts } from './texts.ts'
import type { ReportNote, ReportRaw, ReportRun, ReportStep, ReportTokens } from './types.ts'

/** What a report shows of a run: the facts that `show --json` prints, and the texts of the bodies. */
export function runView({ tape, run }: Opened, texts: Texts, found?: Case): ReportRun {
  const { header, close, digest } = tape
  const tookMs = runTookMs(run)
  const steps = stepsView(tape, run.steps, texts)
  const notes = notesView(tape, texts)
  return {
    id: header.id,
    word: shellWord(header.id),
    file: seenFile(tape.source),
    agent: header.agent,
    ...(header.input === undefined ? {} : { input: texts.add(JSON.stringify(header.input)) }),
    startedAt: header.startedAt,
    made: header.recorder,
    pins: {
      ...(header.pins.commit === undefined ? {} : { commit: header.pins.commit }),
      ...(header.pins.dirty === undefined ? {} : { dirty: header.pins.dirty }),
      node: header.pins.node,
    },
    ...(header.imported === undefined ? {} : { imported: header.imported }),
    ...(header.parent === undefined ? {} : { parent: { id: header.parent.id, keep: header.parent.keep } }),
    digest,
    truncated: close === undefined,
    ...(tookMs === undefined ? {} : { took: tookMs }),
    cuts: run.cuts.length,
    ...(close === undefined
      ? {}
      : { outcome: { status: close.outcome.status, t: texts.add(outcomeText(close.outcome)) } }),
    spending: run.spending,
    models: run.models,
    steps,
    notes,
    reads: run.draws.reduce((sum, { draws }) => sum + draws.length, 0),
    ...(found === undefined
      ? {}
      : {
          case: {
            id: found.id,
            ...(found.title === undefined ? {} : { title: found.title }),
            expect: found.expect,
          },
        }),
  }
}

/** A path as seen from here; what lies elsewhere by its name alone: a report is sent to others. */
export function seenFile(file: string): string {
  const short = relative('.', file).replaceAll('\\', '/')
  return short.startsWith('..') ? (short.split('/').at(-1) ?? short) : short
}

function stepsView(tape: Tape, read: readonly RunStep[], texts: Texts): ReportStep[] {
  const events = new Map(stepsOf(tape).map((step) => [step.n, step]))
  const prompts = new Prompts(texts)
  const bodies = new SharedBodies(texts)
  return read.map((step): ReportStep => {
    const event = events.get(step.n)
    const facts = { ...factsOfStep(step, texts), ...(event === undefined ? {} : callView(event, prompts)) }
    return event?.kind === 'exchange' ? { ...facts, raw: rawOf(event, step.number, bodies, texts) } : facts
  })
}

function factsOfStep(step: RunStep, texts: Texts): ReportStep {
  const {
    number: no,
    n,
    atMs: at,
    tookMs,
    kind,
    name,
    site,
    status,
    finish,
    error,
    during,
    inside,
    isOpen,
    isLeftOut,
  } = step
  const { usage, costUsd, asked, answer, reasoning, lane, retryOf, confidence } = step
  const isModel = kind === 'model'
  return {
    no,
    n,
    at,
    kind,
    name,
    lane,
    ...(retryOf === undefined ? {} : { again: retryOf }),
    ...(confidence === undefined ? {} : { sure: confidence }),
    ...(tookMs === undefined ? {} : { took: tookMs }),
    ...(site === undefined ? {} : { site }),
    ...(status === undefined ? {} : { status }),
    ...(finish === undefined ? {} : { fin: finish }),
    ...(error === undefined ? {} : { err: error }),
    ...(during.length === 0 ? {} : { par: during }),
    ...(inside === undefined ? {} : { inside }),
    ...(isOpen ? { open: true as const } : {}),
    ...(isLeftOut ? { left: true as const } : {}),
    ...(usage === undefined ? {} : { tok: tokensOf(usage) }),
    ...(costUsd === undefined ? {} : { cost: costUsd }),
    ...(reasoning === undefined ? {} : { thought: texts.add(reasoning) }),
    ...(asked === undefined || isModel ? {} : { args: texts.add(asked) }),
    ...(answer === undefined ? {} : isModel ? { said: texts.add(answer) } : { result: texts.add(answer) }),
  }
}

function tokensOf({ inputTokens, cachedTokens, outputTokens, reasoningTokens }: Usage): ReportTokens {
  return [inputTokens ?? null, cachedTokens ?? null, outputTokens ?? null, reasoningTokens ?? null]
}

/** What a model was asked, and what it decided. */
function callView(event: Step, prompts: Prompts): Partial<ReportStep> {
  if (event.kind !== 'exchange') return {}
  const call = readModelCall(event)
  if (call === undefined) return {}
  const calls = call.response?.toolCalls ?? []
  return {
    prompt: prompts.read(call),
    ...(calls.length === 0
      ? {}
      : { calls: calls.map((one) => ({ name: one.name, args: one.args, text: signature(one) })) }),
  }
}

function rawOf(event: ExchangeEvent, no: number, bodies: SharedBodies, texts: Texts): ReportRaw {
  const { method, url, request, response } = event
  const coding = headerOf(request.headers, 'content-encoding')
  const bytes = requestBytes(event)
  const body = bodyText(coding === undefined ? bytes : decodeBody(bytes, coding))
  const common = { m: method, u: url, h: texts.add(headerLines(request.headers)), q: bodies.add(no, body) }
  if (response === undefined) return common
  return {
    ...common,
    s: response.status,
    rh: texts.add(headerLines(response.headers)),
    a: texts.add(bodyText(decodedResponse(event))),
    pieces: response.chunks.length,
  }
}

function headerLines(headers: readonly HeaderPair[]): string {
  return headers.map(([name, value]) => `${name}: ${value}`).join('\n')
}

function notesView({ header, events }: Tape, texts: Texts): ReportNote[] {
  return events.flatMap((event): ReportNote[] => {
    const { n, at: atMs } = event
    switch (event.kind) {
      case 'message':
        return [{ n, at: atMs, kind: 'message', from: event.from, to: event.to, t: texts.add(messageText(event.body)) }]
      case 'mark': {
        const told = importedModelCall(header, event)
        const [finish, error] = [textAt(event.data, 'finish'), at(event.data, 'error')]
        const model = told && {
          name: told.model || (told.answered ?? ''),
          ...(told.usage === undefined ? {} : { tok: tokensOf(told.usage) }),
          ...(finish === undefined ? {} : { finish }),
          ...(error === undefined ? {} : { error: valueText(error) }),
        }
        const t = texts.add(event.data === undefined ? '' : JSON.stringify(event.data))
        return [{ n, at: atMs, kind: 'mark', name: event.name, t, ...(model === undefined ? {} : { model }) }]
      }
      case 'state':
        return [{ n, at: atMs, kind: 'state', name: event.name, t: texts.add(JSON.stringify(event.data)) }]
      case 'spawn':
        return [{ n, at: atMs, kind: 'spawn', name: event.command[0] ?? '', t: texts.add(event.command.join(' ')) }]
      case 'push':
        return [{ n, at: atMs, kind: 'push', name: event.url, t: texts.add(pushText(event)) }]
      default:
        return []
    }
  })
}
