import type { FamilyName } from '../../faults/families.ts'
import { pickOf } from './chance.ts'
import type { EntryGroup, ValueFault } from './ledger.ts'
import type { EntrySource, HttpFault, MessageFault, ModelNoise, Plant, World } from './world.ts'

/**
 * The world of one planted run. The same family and seed make the same world; what is planted lies at a place that
 * belongs to the seed.
 *
 * @param steps - about how many steps the run has; at least 15
 */
export function worldOf(family: FamilyName, seed: number, steps: number): World {
  const id = `${family}-${seed}`
  const pick = (from: number, to: number, ...what: readonly (string | number)[]): number =>
    pickOf(from, to, id, ...what)
  const { by, shape = {} } = sketches[family]
  const { width = 1, source } = shape
  const perQuestion = 1 + width * (source === 'agent' ? 3 : 1)
  const questions = Math.max(5, Math.round((steps - 1) / perQuestion))
  const sketch = by({ pick, entries: questions * width, questions, width })
  const apart = new Set([...(sketch.groups ?? []).flatMap(({ of }) => of), ...(sketch.ignored ?? [])])
  const entries = Array.from({ length: questions * width }, (_, entry) => entry)
  const anySource = (entry: number): EntrySource =>
    (['tool', 'retrieval', 'service'] as const)[pick(0, 3, 'source', entry)] ?? 'tool'
  return {
    id,
    seed: pick(0, 1_000_000, 'ledger'),
    entries: entries.map((entry) => sketch.sources?.[entry] ?? source ?? anySource(entry)),
    width,
    groups: [...(sketch.groups ?? []), { by: 'sum', of: entries.filter((entry) => !apart.has(entry)) }],
    plants: sketch.plants,
    noise: { slip: 0, recurrence: 0, correction: 0, ...shape.noise?.(pick) },
    isStreamed: shape.isStreamed ?? false,
    onError: shape.mayCrash === true && pick(0, 2, 'crash') === 0 ? 'throw' : 'skip',
    retries: shape.retries ?? 0,
    isPermanent: shape.isPermanent ?? false,
    model: 'ledger-1',
  }
}

/** What a family's runs have in common. */
interface Shape {
  readonly width?: number
  /** All entries come from there. */
  readonly source?: EntrySource
  readonly noise?: (pick: Ground['pick']) => Partial<ModelNoise>
  readonly isStreamed?: true
  /** Some of the agents throw when the model gives no answer. */
  readonly mayCrash?: true
  readonly retries?: number
  readonly isPermanent?: true
}

interface Ground {
  pick(from: number, to: number, ...what: readonly (string | number)[]): number
  readonly entries: number
  readonly questions: number
  readonly width: number
}

/** What is planted into one run. */
interface Sketched {
  readonly plants: readonly Plant[]
  readonly groups?: readonly EntryGroup[]
  readonly sources?: Readonly<Record<number, EntrySource>>
  /** Entries that do not count. */
  readonly ignored?: readonly number[]
}

interface SketchedFamily {
  readonly by: (on: Ground) => Sketched
  readonly shape?: Shape
}

/** The chance of the engine level's noisy runs of this length. */
const usualSlip = 0.01

const sketches: Readonly<Record<FamilyName, SketchedFamily>> = {
  'F0.corrupted_tool_output': wrongValue('raised', 'tool'),
  'F0.misleading_retrieval': wrongValue('raised', 'retrieval'),
  'F0.wrong_system_prompt': wrongValue('twice', 'service'),
  'F0.dropped_message': lostMessage('dropped'),
  'F0.poisoned_argument': { by: (on) => wrongArgument(on) },
  'F1.stale_balance': wrongValue('stale'),
  'F1.swapped_fields': wrongValue('swapped'),
  'F1.transposed_digits': wrongValue('transposed'),
  'F1.unit_change': wrongValue('cents'),
  'F1.empty_list': wrongValue('empty'),
  'F2.http_429': brokenAnswer('429'),
  'F2.http_429_retry_after': brokenAnswer('429_retry_after'),
  'F2.http_500': brokenAnswer('500'),
  'F2.http_503': brokenAnswer('503'),
  'F2.http_529': brokenAnswer('529'),
  'F2.reset_mid_body': brokenAnswer('reset'),
  'F2.truncated_json': brokenAnswer('truncated_json'),
  'F2.truncated_sse': brokenAnswer('truncated_sse', { isStreamed: true }),
  'F2.malformed_chunk': brokenAnswer('malformed_chunk', { isStreamed: true }),
  'F2.wrong_content_type': brokenAnswer('html'),
  'F2.empty_200': brokenAnswer('empty'),
  'F2.slow_loris': brokenAnswer('slow'),
  'F2.duplicate_delivery': brokenAnswer('duplicate', { isStreamed: true }),
  'F3.arrival_permutation': { by: overtaken, shape: { width: 3, source: 'tool' } },
  'F3.clock_skew': wrongValue('skewed'),
  'F3.dst_edge': wrongValue('dst'),
  'F3.timeout': wrongValue('timeout', 'tool'),
  'F3.id_collision': wrongValue('collision'),
  'F4.paraphrase': { by: (on) => decoys(on, 'paraphrase') },
  'F4.extra_field': { by: (on) => decoys(on, 'extra_field') },
  'F4.ignored_error': { by: ignoredErrors },
  'F4.loud_apology': { by: (on) => decoys(on, 'apology') },
  'F4.retried_429': { by: (on) => decoys(on, '429'), shape: { retries: 1 } },
  'F5.single': wrongValue('raised'),
  'F5.and_2': combined('least', 2, [0, 1]),
  'F5.and_3': combined('least', 3, [0, 1, 2]),
  'F5.or_2': combined('most', 2, [0, 1]),
  'F5.or_3': combined('most', 3, [0, 1, 2]),
  'F5.two_of_three': combined('middle', 3, [0, 1, 2]),
  'F5.xor': combined('apart', 2, [0]),
  // What comes later counts only as far as the gate lets it through.
  'F5.gate_payload': combined('least', 2, [0, 1]),
  'F5.preemption_early': combined('most', 2, [0, 1]),
  'F5.preemption_late': combined('last', 2, [0, 1]),
  'F5.echo_chain': { by: (on) => wrongArgument(on, true) },
  'F5.early_cause_late_symptom': { by: () => ({ plants: [valueAt(0, 'raised')] }) },
  'F5.erosion': {
    by: () => ({ plants: [{ what: 'smudges' }] }),
    shape: { source: 'tool', noise: () => ({ slip: usualSlip }) },
  },
  'F5.dip_and_recover': { by: dipAndRecover },
  'F5.never': { by: () => ({ plants: [{ what: 'incapable' }] }) },
  'F6.slip': { ...wrongValue('raised'), shape: { noise: () => ({ slip: usualSlip }) } },
  'F6.recurrence': {
    ...wrongValue('raised'),
    shape: { noise: (pick) => ({ slip: usualSlip, recurrence: pick(1, 4, 'recurrence') / 10 }) },
  },
  'F6.quiet_chance': {
    by: (on) => wrongArgument(on),
    shape: { noise: (pick) => ({ recurrence: pick(5, 9, 'recurrence') / 10 }) },
  },
  'F6.self_correction': {
    ...wrongValue('raised'),
    shape: { noise: (pick) => ({ slip: usualSlip, correction: pick(1, 3, 'correction') / 20 }) },
  },
  'F7.no_op_mutation': { by: nothing, shape: { noise: () => ({ slip: 2 * usualSlip }) } },
  'F7.identical_response': { by: nothing, shape: { noise: () => ({ slip: 2 * usualSlip }) } },
  'F7.passing_run': { by: nothing },
  'F7.environment': { ...wrongValue('raised'), shape: { isPermanent: true } },
  'F7.flaky_oracle': { by: nothing },
  'F7.mistyped_question': wrongValue('raised'),
  'F7.taped_tools': { ...wrongValue('raised'), shape: { isPermanent: true, noise: () => ({ slip: usualSlip }) } },
  'F7.changed_code': { by: nothing },
  'F8.model_swap_from_step': {
    by: ({ pick, questions }) => ({ plants: [{ what: 'model', question: pick(1, questions, 'question') }] }),
  },
  'F8.model_swap_global': { by: () => ({ plants: [{ what: 'model', question: 0 }] }), shape: { isPermanent: true } },
  'F8.pinned_id_mismatch': { by: nothing },
  'F9.message_dropped': lostMessage('dropped'),
  'F9.message_delayed': lostMessage('delayed'),
  'F9.message_duplicated': lostMessage('duplicated'),
  'F9.message_contradicting': lostMessage('contradicting'),
  'F10.accepted_change': wrongValue('raised'),
  'F10.code_change': { by: nothing },
  'F10.prompt_change': { by: nothing },
  'F10.tool_schema_change': { by: nothing },
}

function nothing(): Sketched {
  return { plants: [] }
}

function valueAt(entry: number, fault: ValueFault | 'timeout'): Plant {
  return { what: 'value', entry, fault }
}

function wrongValue(fault: ValueFault | 'timeout', source?: EntrySource): SketchedFamily {
  return {
    by({ pick, entries }) {
      const entry = pick(1, entries, 'entry')
      return { plants: [valueAt(entry, fault)], ...(source && { sources: { [entry]: source } }) }
    },
  }
}

function wrongArgument({ pick, entries }: Ground, isEchoed = false): Sketched {
  const entry = pick(1, entries, 'entry')
  // Services and other agents know no years.
  const sources = Object.fromEntries(Array.from({ length: entries }, (_, one) => [one, 'tool' as const]))
  return { plants: [{ what: 'argument', entry, ...(isEchoed && { isEchoed: true }) }], sources }
}

function lostMessage(fault: MessageFault): SketchedFamily {
  return {
    by: ({ pick, entries }) => ({ plants: [{ what: 'message', entry: pick(1, entries, 'entry'), fault }] }),
    shape: { source: 'agent' },
  }
}

function brokenAnswer(fault: HttpFault, shape: Shape = {}): SketchedFamily {
  return {
    by: ({ pick, questions }) => ({ plants: [{ what: 'http', question: pick(1, questions, 'question'), fault }] }),
    shape: { ...shape, mayCrash: true },
  }
}

/** Of the answers to one question, the one that arrives last counts: one of them lets the others overtake it. */
function overtaken({ pick, questions, width }: Ground): Sketched {
  const first = width * pick(0, questions, 'question')
  const of = Array.from({ length: width }, (_, k) => first + k)
  return { plants: [{ what: 'delay', entry: first + pick(0, width - 1, 'late') }], groups: [{ by: 'last', of }] }
}

/** Some causes in different stretches of the run; those of `planted` are there. */
function combined(by: EntryGroup['by'], count: number, planted: readonly number[]): SketchedFamily {
  return {
    by(on) {
      const of = spread(on, count)
      return { plants: planted.map((k) => valueAt(of[k] ?? 0, 'raised')), groups: [{ by, of }] }
    },
  }
}

function spread({ pick, entries }: Ground, count: number): readonly number[] {
  const stretch = entries / count
  return Array.from({ length: count }, (_, k) =>
    pick(Math.max(1, Math.ceil(k * stretch)), Math.floor((k + 1) * stretch), 'spread', k),
  )
}

/** The first two undo each other; the third harm stays. */
function dipAndRecover(on: Ground): Sketched {
  const [first = 0, second = 0, third = 0] = spread(on, 3)
  return {
    plants: [first, second, third].map((entry) => valueAt(entry, 'raised')),
    groups: [{ by: 'apart', of: [first, second] }],
  }
}

/** Three to ten differences beside one true cause. */
function decoys(on: Ground, kind: 'paraphrase' | 'apology' | 'extra_field' | '429'): Sketched {
  const { pick, entries } = on
  const cause = pick(1, entries, 'entry')
  const others = placesBeside(on, cause)
  return {
    plants: [valueAt(cause, 'raised'), ...others.map((at): Plant => ({ what: 'decoy', at, kind }))],
    ...(kind === 'extra_field' && { sources: Object.fromEntries(others.map((at) => [at, 'tool'])) }),
  }
}

function ignoredErrors(on: Ground): Sketched {
  const cause = on.pick(1, on.entries, 'entry')
  const others = placesBeside(on, cause)
  return {
    plants: [valueAt(cause, 'raised'), ...others.map((entry) => valueAt(entry, 'timeout'))],
    sources: Object.fromEntries(others.map((entry) => [entry, 'tool'])),
    ignored: others,
  }
}

function placesBeside({ pick, entries }: Ground, cause: number): readonly number[] {
  const count = pick(3, Math.min(10, Math.floor(entries / 2)) + 1, 'decoys')
  return Array.from({ length: entries }, (_, at) => at)
    .filter((at) => at !== cause)
    .map((at) => ({ at, by: pick(0, 1_000_000, 'decoy', at) }))
    .sort((a, b) => a.by - b.by)
    .slice(0, count)
    .map(({ at }) => at)
}
