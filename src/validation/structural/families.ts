// Over 300 lines: what is planted of each family, one after the other.
import type { FamilyName } from '../../faults/families.ts'
import { hasFact, type Noise, type Write } from './model.ts'
import { distinct, integer, type Random } from './random.ts'
import { type Planted, sketch, type Sketch } from './sketch.ts'

/**
 * Plants a family in a model of `length` places.
 *
 * @throws RangeError when the family has no model: {@link hasModel}
 */
export function plant(name: FamilyName, length: number, noise: Noise, random: Random): Planted {
  const build = builders[name]
  if (build === undefined) throw new RangeError(`plant: ${name} has no structural model`)
  return build(sketch(length, random, noise))
}

/** Whether a model can stand for the family. What a refusal looks like only real runs can show. */
export function hasModel(name: FamilyName): boolean {
  return builders[name] !== undefined
}

/**
 * A run that went well, and answers that are changed: at one place most mutants make it fail, at some others the changed
 * answer is seen and does not matter, and the rest is not looked at.
 */
export function plantMutants(length: number, noise: Noise, random: Random): Planted {
  const on = sketch(length, random, noise)
  on.decoys(integer(random, 3, 7))
  const place = on.free(1, length)
  const harm = on.absentCause(place)
  // Which mutants do harm is drawn once, so that each is the same however often it is tried.
  const harmful = Array.from({ length: distinctMutants }, () => random() < 0.85)
  return on.finish({
    fails: (now) => hasFact(now, harm),
    mutation: {
      count: () => distinctMutants,
      raises: (at, mutant) => (at === place && harmful[mutant] === true ? 1 << harm : 0),
    },
    flips: [place],
  })
}

/**
 * Erosion with large steps: at 6 to 16 places the chance to end well gets less, by as much at each, until none is left.
 *
 * No place takes more than a sixth. Which one was the cause has no answer, and one of them is easily mistaken for it.
 */
export function plantCoarseErosion(length: number, noise: Noise, random: Random): Planted {
  const on = sketch(length, random, noise)
  const places = distinct(random, integer(random, 6, 17), 0, length)
  return on.finish({
    fails: () => false,
    luck: (kept) => 0.95 * (1 - places.filter((place) => place < kept).length / places.length),
  })
}

/** What the agent's code draws before the question of one place decides, and its answer does not. */
export function plantDrawn(length: number, noise: Noise, random: Random, place: 'first' | 'any'): Planted {
  const on = sketch(length, random, noise)
  const at = place === 'first' ? 0 : on.free(1, length)
  const fact = on.cause(at, { inside: true })
  const planted = on.finish({ fails: (now) => hasFact(now, fact) })
  const places = planted.model.places.map((one, k) => (k === at ? { ...one, isDrawn: true as const } : one))
  return { ...planted, model: { ...planted.model, places } }
}

/** An answer of a model decides, and what the agent's code draws, before that question or before its first one, does not. */
export function plantBesideDrawn(length: number, noise: Noise, random: Random, place: 'first' | 'same'): Planted {
  const on = sketch(length, random, noise)
  const at = on.free(1, length)
  const decided = on.cause(at, { inside: true })
  const planted = on.finish({ fails: (now) => hasFact(now, decided) })
  const innocent: Write = { fact: decided + 1, recorded: true, live: () => 0.5, isDrawn: true }
  const where = place === 'first' ? 0 : at
  const places = planted.model.places.map((one, k) =>
    k === where ? { ...one, writes: [innocent, ...one.writes] } : one,
  )
  return { ...planted, model: { ...planted.model, places } }
}

type Build = (on: Sketch) => Planted

const builders: Readonly<Record<FamilyName, Build | undefined>> = {
  'F0.corrupted_tool_output': seenLater,
  'F0.misleading_retrieval': (on) => relayed(on, 2),
  'F0.wrong_system_prompt': insideTheAgent,
  'F0.dropped_message': missing,
  'F0.poisoned_argument': (on) => {
    // The model decides, and a tool answers to what it decided.
    const at = on.free(1, on.length - 1)
    const wrong = on.cause(at, { inside: true })
    const answer = on.follows(at + 1, (facts) => hasFact(facts, wrong), { outside: true })
    return on.finish({ fails: (facts) => hasFact(facts, answer) })
  },
  'F1.stale_balance': seenLater,
  'F1.swapped_fields': atOnce,
  'F1.transposed_digits': (on) => relayed(on, 1),
  'F1.unit_change': (on) => relayed(on, 3),
  'F1.empty_list': missing,
  'F2.http_429': (on) => atOnce(on, 'crash'),
  'F2.http_429_retry_after': (on) => atOnce(on, 'timeout'),
  'F2.http_500': (on) => atOnce(on, 'crash'),
  'F2.http_503': (on) => atOnce(on, 'crash'),
  'F2.http_529': (on) => atOnce(on, 'crash'),
  'F2.reset_mid_body': (on) => atOnce(on, 'crash'),
  'F2.truncated_json': (on) => atOnce(on, 'crash'),
  'F2.truncated_sse': seenLater,
  'F2.malformed_chunk': (on) => atOnce(on, 'crash'),
  'F2.wrong_content_type': (on) => atOnce(on, 'crash'),
  'F2.empty_200': missing,
  'F2.slow_loris': (on) => atOnce(on, 'timeout'),
  'F2.duplicate_delivery': seenLater,
  'F3.arrival_permutation': (on) => {
    // Two answers under way at the same time: which one comes second is drawn where they are.
    const at = on.free(1, on.length)
    on.block(at, integer(on.random, 2, 5))
    const inverted = on.cause(at)
    return on.finish({ fails: (facts) => hasFact(facts, inverted) })
  },
  'F3.clock_skew': seenLater,
  'F3.dst_edge': atOnce,
  'F3.timeout': (on) => atOnce(on, 'timeout'),
  'F3.id_collision': (on) => allOf(on, 2),
  'F4.paraphrase': withDecoys,
  'F4.extra_field': withDecoys,
  'F4.ignored_error': withDecoys,
  'F4.loud_apology': withDecoys,
  'F4.retried_429': withDecoys,
  'F5.single': atOnce,
  'F5.and_2': (on) => allOf(on, 2),
  'F5.and_3': (on) => allOf(on, 3),
  'F5.or_2': (on) => anyOf(on, 2),
  'F5.or_3': (on) => anyOf(on, 3),
  'F5.two_of_three': (on) => {
    const facts = spread(on, 3)
    return on.finish({ fails: (now) => facts.filter((one) => hasFact(now, one)).length >= 2 })
  },
  'F5.xor': xor,
  'F5.gate_payload': (on) => {
    // The gate opens early; what it lets through does nothing by itself.
    const [gate, payload] = spread(on, 2)
    const at = on.behind(on.length - 2)
    const hit = (now: number): boolean => hasFact(now, gate ?? 0) && hasFact(now, payload ?? 0)
    if (at === undefined) return on.finish({ fails: hit })
    const effect = on.follows(at, hit)
    return on.finish({ fails: (now) => hasFact(now, effect) })
  },
  'F5.preemption_early': (on) => {
    const [first, second] = spread(on, 2)
    const blocked = (now: number): boolean => hasFact(now, second ?? 0) && !hasFact(now, first ?? 0)
    return on.finish({ fails: (now) => hasFact(now, first ?? 0) || blocked(now) })
  },
  'F5.preemption_late': (on) => {
    // The earlier fact would act at the end, and the later one acts before that, in its place.
    const [early, late] = spread(on, 2)
    const wouldAct = (now: number): boolean => hasFact(now, early ?? 0) && !hasFact(now, late ?? 0)
    return on.finish({ fails: (now) => hasFact(now, late ?? 0) || wouldAct(now) })
  },
  'F5.echo_chain': (on) => relayed(on, 3),
  'F5.early_cause_late_symptom': (on) => {
    const cause = on.cause(1)
    const symptom = on.follows(on.length - 1, (now) => hasFact(now, cause))
    return on.finish({ fails: (now) => hasFact(now, symptom) })
  },
  'F5.erosion': (on) => on.finish({ fails: () => false, luck: (kept) => 0.9 * (1 - kept / on.length) }),
  'F5.dip_and_recover': dipAndRecover,
  'F5.never': (on) => on.finish({ fails: () => false, luck: () => (on.noise.slip === 0 ? 0 : 0.01) }),
  'F6.slip': atOnce,
  'F6.recurrence': seenLater,
  // Cells of their own draw it with a chance; the families behind it are about questions, graders and code, not chances.
  'F6.quiet_chance': undefined,
  'F6.self_correction': atOnce,
  'F7.no_op_mutation': (on) =>
    on.finish({ fails: () => false, mutation: { count: () => distinctMutants, raises: () => 0 } }),
  'F7.identical_response': (on) =>
    on.finish({ fails: () => false, mutation: { count: () => distinctMutants, raises: () => 0, isIdentical: true } }),
  'F7.passing_run': (on) => on.finish({ fails: () => false }),
  'F7.environment': (on) => on.finish({ fails: () => false, luck: () => 0 }),
  'F8.model_swap_from_step': (on) => otherModel(on, integer(on.random, 1, on.length)),
  'F8.model_swap_global': (on) => otherModel(on, 0),
  'F8.pinned_id_mismatch': undefined,
  'F9.message_dropped': (on) => betweenAgents(on, missing),
  'F9.message_delayed': (on) => betweenAgents(on, seenLater),
  'F9.message_duplicated': (on) => betweenAgents(on, (inner) => relayed(inner, 2)),
  'F9.message_contradicting': (on) => betweenAgents(on, (inner) => relayed(inner, 3)),
  'F7.flaky_oracle': undefined,
  'F7.mistyped_question': undefined,
  'F7.taped_tools': undefined,
  'F7.changed_code': undefined,
  'F10.accepted_change': undefined,
  'F10.code_change': changedCode,
  'F10.prompt_change': changedCode,
  'F10.tool_schema_change': changedCode,
}

const distinctMutants = 40

/** The fact is what the run fails by. */
function atOnce(on: Sketch, failsAs: 'bad' | 'crash' | 'timeout' = 'bad'): Planted {
  const fact = on.cause(on.free(1, on.length))
  return on.finish({ fails: (now) => hasFact(now, fact), failsAs })
}

/** A later step of the model acts on the fact, and that is what the run fails by. */
function seenLater(on: Sketch): Planted {
  return relayed(on, 1)
}

/** The fact is handed on from step to step; the last one is what the run fails by. */
function relayed(on: Sketch, times: number): Planted {
  const cause = on.free(1, on.length)
  let fact = on.cause(cause)
  let at: number | undefined = cause
  for (let k = 0; k < times; k++) {
    at = on.behind(at)
    if (at === undefined) break
    const before = fact
    fact = on.follows(at, (now) => hasFact(now, before))
  }
  return on.finish({ fails: (now) => hasFact(now, fact) })
}

/** The model itself goes wrong, and later steps of it follow. */
function insideTheAgent(on: Sketch): Planted {
  const at = on.free(1, on.length)
  const wrong = on.cause(at, { inside: true })
  const later = on.behind(at)
  if (later === undefined) return on.finish({ fails: (now) => hasFact(now, wrong) })
  const effect = on.follows(later, (now) => hasFact(now, wrong))
  return on.finish({ fails: (now) => hasFact(now, effect) })
}

/** What should have arrived did not. */
function missing(on: Sketch): Planted {
  const at = on.free(1, on.length)
  const arrived = on.absence(at)
  return on.finish({ fails: (now) => !hasFact(now, arrived) })
}

/** Causes at random places, one in each stretch of the run: the facts, in order. */
function spread(on: Sketch, count: number): readonly number[] {
  const span = on.length / count
  return Array.from({ length: count }, (_, k) =>
    on.cause(on.free(k === 0 ? 1 : Math.floor(k * span), Math.floor((k + 1) * span))),
  )
}

function allOf(on: Sketch, count: number): Planted {
  const facts = spread(on, count)
  return on.finish({ fails: (now) => facts.every((one) => hasFact(now, one)) })
}

function anyOf(on: Sketch, count: number): Planted {
  const facts = spread(on, count)
  return on.finish({ fails: (now) => facts.some((one) => hasFact(now, one)) })
}

/** The run fails when one of two facts is there and not both; the second one never came. */
function xor(on: Sketch): Planted {
  const first = on.cause(on.free(1, on.length))
  const second = on.absentCause(on.free(0, on.length))
  return on.finish({ fails: (now) => hasFact(now, first) !== hasFact(now, second) })
}

function withDecoys(on: Sketch): Planted {
  const cause = on.cause(on.free(1, on.length))
  on.decoys(integer(on.random, 3, Math.min(10, Math.floor(on.length / 3)) + 1))
  return on.finish({ fails: (now) => hasFact(now, cause) })
}

/** A harm that a later step made good again, and another one behind it that nothing did. */
function dipAndRecover(on: Sketch): Planted {
  const third = Math.floor(on.length / 3)
  const first = on.cause(on.free(1, third))
  // Most runs would not find it: that the recorded one did is luck, and makes the curve rise again.
  on.undoes(on.free(third, 2 * third), first, on.noise.slip === 0 ? 0 : 0.1)
  const last = on.cause(on.free(2 * third, on.length))
  return on.finish({ fails: (now) => hasFact(now, first) || hasFact(now, last) })
}

/** What is asked now is another model than the tape's: from some step on it breaks the format more often than not. */
function otherModel(on: Sketch, from: number): Planted {
  const low = Math.min(from, on.length - 12)
  const broken = Array.from({ length: 6 }, () => on.cause(on.free(low, on.length), { inside: true, recurs: 0.6 }))
  return on.finish({ fails: (now) => broken.some((one) => hasFact(now, one)) })
}

/** Two to four agents take turns; what is wrong with one shows at another. */
function betweenAgents(on: Sketch, build: Build): Planted {
  const agents = integer(on.random, 2, 5)
  return build({ ...on, finish: (ending) => on.finish({ ...ending, agents }) })
}

/**
 * A change of the agent's code with several hunks, each of which acts at a step; one of them is what the run fails by.
 * Taking a hunk back is the repair of its step.
 */
function changedCode(on: Sketch): Planted {
  const cause = on.cause(on.free(1, on.length))
  on.decoys(integer(on.random, 4, 8))
  return on.finish({ fails: (now) => hasFact(now, cause) })
}
