import type { Drift, UnansweredCall } from '../../match/types.ts'
import { decodeBody } from '../../providers/index.ts'
import { requestBytes, stepsOf, type Tape } from '../../tape/index.ts'
import { bodyText, headerOf } from '../describe.ts'
import type { Texts } from './texts.ts'
import type { ReportRed } from './types.ts'

/** A replay that is not what its tape or case says. */
export interface RedFacts {
  /** Name of the case, or id of the tape. */
  readonly case: string
  readonly verdict: 'different' | 'unproven'
  readonly code: string
  /** All that a terminal prints. */
  readonly message: string
  /** First line, without its code; what is known as data goes before what a message says. */
  readonly what?: string
  readonly where?: Readonly<Record<string, string>>
  readonly fix?: readonly string[]
  readonly expected?: string
  readonly actual?: string
  readonly drift: readonly Drift[]
  readonly escapes: readonly { readonly kind: string; readonly target: string }[]
  readonly unanswered: readonly UnansweredCall[]
  /** 1-based numbers of the recorded steps that were not asked for; `undefined`: not known. */
  readonly unusedSteps?: readonly number[] | undefined
  readonly steps: number
  readonly served: number
  /** Line of the case file, or the file of the tape. */
  readonly place: string
  readonly tape: Tape
}

/** The part of a report that says why a case is red: recorded and now, whole where both are known. */
export function redView(facts: RedFacts, texts: Texts): ReportRed {
  const { drift, unanswered, where = {} } = facts
  // What stopped the replay goes before what it met on the way.
  const [missed] = unanswered
  const changed = drift.find(({ policy }) => policy === 'fail') ?? drift.find(({ policy }) => policy === 'unproven')
  const nearest = nearestOf(missed, changed, where)
  const sides = sidesOf(facts, missed, changed)
  const site = where['at'] ?? changed?.site
  const isServed = (step: number): boolean =>
    facts.unusedSteps === undefined ? step < (nearest ?? facts.steps + 1) : !facts.unusedSteps.includes(step)
  return {
    case: facts.case,
    verdict: facts.verdict,
    code: facts.code,
    title: facts.what ?? facts.message.split('\n', 1)[0] ?? '',
    class: sides.class,
    path: sides.path,
    ...(nearest === undefined ? {} : { nearest }),
    servedSteps: Array.from({ length: facts.steps }, (_, index) => index + 1).filter(isServed),
    served: facts.served,
    steps: facts.steps,
    recorded: texts.add(sides.recorded),
    now: texts.add(sides.now),
    ...(site === undefined ? {} : { site }),
    place: facts.place,
    drift: drift.map((one) => ({
      class: one.class,
      step: one.stepNumber,
      path: one.path,
      words: texts.add(one.words),
    })),
    escapes: facts.escapes.map(({ kind, target }) => `${kind} ${target}`),
    fix: facts.fix ?? [],
    message: texts.add(facts.message),
    only: unanswered.map(({ kind, name, asked }) => ({ kind, name, t: texts.add(asked) })),
  }
}

function nearestOf(
  missed: UnansweredCall | undefined,
  changed: Drift | undefined,
  where: Readonly<Record<string, string>>,
): number | undefined {
  if (missed !== undefined) return missed.nearest
  if (changed !== undefined) return changed.stepNumber
  // `step 3, POST api.example/v1`: our own words, see `describeStep`.
  const [, step] = /^step (\d+),/.exec(where['recorded'] ?? where['nearest'] ?? '') ?? []
  return step === undefined ? undefined : Number(step)
}

interface Sides {
  readonly class: string
  readonly path: string
  readonly recorded: string
  readonly now: string
}

function sidesOf(facts: RedFacts, missed: UnansweredCall | undefined, changed: Drift | undefined): Sides {
  const { expected, actual } = facts
  if (missed !== undefined) {
    const recorded = missed.nearest === undefined ? undefined : askedAt(facts.tape, missed.nearest)
    return {
      class: missed.kind,
      path: missed.name,
      recorded: recorded ?? 'no recorded step is like it',
      now: missed.asked,
    }
  }
  if (changed !== undefined)
    return { class: changed.class, path: changed.path, recorded: changed.recorded, now: changed.live }
  if (expected !== undefined && actual !== undefined) return { class: '', path: '', recorded: expected, now: actual }
  return { class: '', path: '', recorded: '', now: '' }
}

/** What a recorded step was asked, as one text. */
function askedAt(tape: Tape, step: number): string | undefined {
  const event = stepsOf(tape)[step - 1]
  if (event === undefined) return undefined
  if (event.kind !== 'exchange') return JSON.stringify(event.args)
  const coding = headerOf(event.request.headers, 'content-encoding')
  const bytes = requestBytes(event)
  return bodyText(coding === undefined ? bytes : decodeBody(bytes, coding))
}
