// Over 300 lines: which known runs may help, and why none may be good, are answered by the same grades.
import { neutralLine } from '../errors/index.ts'
import { isSettled, type Json, type Step, stepsOf, type Tape } from '../tape/index.ts'
import { answerText } from '../fork/body.ts'
import { canonicalJson, parseJson } from '../json/canonical.ts'
import { requestText } from '../providers/exchange.ts'
import { presentArgs } from '../tape/present.ts'
import { traceOf } from '../trace/index.ts'
import type { Expectation } from './expectation.ts'
import { gradeRecorded } from './grade-task.ts'
import { type Names, neverSeen, valuesSeen } from './known-names.ts'
import { createOracle, type Judging, type Oracle } from './oracle.ts'
import { askedOf, decisionOf } from './positions.ts'
import { answerText as outsideAnswer, referenceOf } from './reference-run.ts'
import { isOfSameQuestion, otherTape } from './other-tape.ts'
import type { Grade, KnownRun } from './types.ts'

/** Whether a run made calls that another one did not make, with these arguments: it has answers to them. */
export function hasOtherCalls(one: Tape, other: Tape): boolean {
  const callsIn = (tape: Tape): readonly string[] =>
    traceOf(tape.events)
      .layers.flat()
      .map(({ name, args }) => canonicalJson([name, args]))
  const known = new Set(callsIn(other))
  return callsIn(one).some((call) => !known.has(call))
}

/** Whether a run has other answers to what another one asked of tools and services: repairs can take those. */
export function hasOtherAnswers(one: Tape, other: Tape): boolean {
  const reference = referenceOf(other, one)
  return stepsOf(other).some((_, index) => reference.differsAt(index + 1))
}

/** As {@link hasOtherAnswers}, to the very same: what was asked of another input has answers that are no answers here. */
export function hasOtherAnswersToSame(one: Tape, other: Tape): boolean {
  const asked = Map.groupBy(stepsOf(other).filter(isOutside), askedOf)
  return stepsOf(one)
    .filter(isOutside)
    .some((step) => asked.get(askedOf(step))?.every((own) => outsideAnswer(own) !== outsideAnswer(step)))
}

function isOutside(step: Step): boolean {
  return decisionOf(step) === undefined
}

/** Whether a run has an answer to one of these questions, by {@link askedOf}. */
export function hasAnswerTo(one: Tape, asked: ReadonlySet<string>): boolean {
  return stepsOf(one).some((step) => isOutside(step) && isSettled(step) && asked.has(askedOf(step)))
}

/**
 * The first run that an oracle grades `ok`.
 *
 * @param read - `undefined` for one that is left out
 */
export async function goodAmong<Known>(
  known: readonly Known[],
  oracle: Oracle,
  read: (one: Known) => Tape | undefined,
): Promise<Known | undefined> {
  for (const one of known) {
    const tape = read(one)
    if (tape !== undefined && (await gradeRecorded(oracle, tape)) === 'ok') return one
  }
  return undefined
}

/** Runs of an agent that may be good ones: each is read and graded once, and only when it is asked for. */
export class KnownRuns {
  readonly #tape: Tape
  readonly #runs: readonly { readonly run: KnownRun; readonly look: () => LookedAt }[]

  /**
   * @param tape - the run that is asked about: it is left out
   */
  constructor(runs: readonly KnownRun[], tape: Tape, oracle: Oracle) {
    this.#tape = tape
    this.#runs = runs.map((run) => ({ run, look: once(() => lookAt(run, tape, oracle)) }))
  }

  /** The first one that passes and can be read. */
  get first(): KnownRun | undefined {
    return this.#runs.find(({ run, look }) => run.passes && look().tape !== undefined)?.run
  }

  /**
   * The first one that is graded `ok` and was asked the same as the run that is asked about, else one that was asked otherwise.
   *
   * @param fits - of those that were asked the same
   * @param fitsOther - of the others: `undefined`, such a run is of no use
   */
  async good(fits: (one: Tape) => boolean, fitsOther?: (one: Tape) => boolean): Promise<GoodRun | undefined> {
    const isSame = (one: Tape): boolean => isOfSameQuestion(one, this.#tape)
    const same = await this.#graded('ok', (one) => isSame(one) && fits(one))
    if (same !== undefined || fitsOther === undefined) return same
    const other = await this.#graded('ok', (one) => !isSame(one) && fitsOther(one))
    return other && { ...other, isOfOtherInput: true }
  }

  /** The first one of this kind that passes and is graded `bad`. */
  bad(fits: (one: Tape) => boolean): Promise<KnownRun | undefined> {
    return this.#graded('bad', fits, ({ passes }) => passes)
  }

  async #graded(
    as: Grade,
    fits: (one: Tape) => boolean,
    isMeant: (run: KnownRun) => boolean = () => true,
  ): Promise<KnownRun | undefined> {
    for (const { run, look } of this.#runs) {
      if (!isMeant(run)) continue
      const { tape, grade } = look()
      if (tape !== undefined && fits(tape) && (await grade()) === as) return run
    }
    return undefined
  }
}

/** A run that is graded `ok`. */
export interface GoodRun extends KnownRun {
  /** It was asked otherwise than the run that is asked about. */
  readonly isOfOtherInput?: true
}

interface LookedAt {
  readonly tape: Tape | undefined
  grade(): Promise<Grade | undefined>
}

function lookAt({ file }: KnownRun, asked: Tape, oracle: Oracle): LookedAt {
  const tape = otherTape(file, asked)
  return {
    tape,
    grade: once(async () => (tape === undefined ? undefined : gradeRecorded(oracle, tape))),
  }
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}

/** What is known of runs of the agent that are good. */
export interface KnownGood {
  /**
   * Whether a run is graded `ok`, and of which question. What is good of another input says that a function grades some run
   * `ok`, and not that a run of this input can be. Absent: none is.
   */
  readonly isGood: 'another question' | 'same question' | undefined
  /** Whether runs are known that pass. */
  readonly hasKnown: boolean
  /** A run of the same question that passes, and is graded `bad`: one of the two is wrong. Absent: none is known. */
  readonly contradictedBy?: string
}

/**
 * Why it is not known that a run of the agent can be good at all. As long as no run is, a condition that is mistyped and an
 * agent whose code is wrong look alike: each fork fails.
 *
 * @returns none: a run is good, or its models asked for the call that the code then made otherwise, or all that differs from
 *   the bad run is good; and no run of the same question contradicts that
 */
export async function neverMet(judging: Judging, names: Names, known: KnownGood): Promise<readonly string[]> {
  const { isGood, contradictedBy } = known
  if (isGood === 'same question') return []
  const unmet = await unmetOf(judging, names, known)
  if (unmet.length > 0 || contradictedBy === undefined) return unmet
  if (judging.by !== 'function' && judging.by !== 'expectations') return []
  const asked = judging.by === 'function' ? oracleText(judging.name) : saidOf([...judging.ok, ...judging.bad])
  return [`${asked}: ${neutralLine(contradictedBy, 80)} passes, has the same input, and is bad by that`]
}

async function unmetOf(judging: Judging, names: Names, known: KnownGood): Promise<readonly string[]> {
  const { isGood, hasKnown } = known
  if (judging.by === 'function') {
    if (isGood !== undefined) return []
    const why = hasKnown ? 'no known run that passes is graded ok' : 'no run is known that it grades ok'
    return [`${oracleText(judging.name)}: ${why}`]
  }
  if (judging.by !== 'expectations') return []
  // With what is bad alone, all else is good; but a run that passes should be.
  if (judging.ok.length === 0) {
    if (hasKnown && isGood === undefined) return [`${saidOf(judging.bad)}: each known run that passes is bad by that`]
    const which = isGood === undefined ? 'no run' : 'no run of the same input'
    return judging.bad
      .filter((one) => !isMadeByCode(one, names))
      .map((one) => `${saidOf([one])}: ${which} is known that is without it`)
  }
  const unmet: string[] = []
  for (const one of judging.ok) if (!(await isMet(one, names))) unmet.push(unmetText(one, names))
  const conditions = [...judging.ok, ...judging.bad]
  // Each by itself may be met, and all of them by no run: they may contradict each other.
  if (unmet.length > 0 || conditions.length === 1) return unmet
  return [`no known run meets all conditions: ${saidOf(conditions)}`]
}

function oracleText(name: string): string {
  return `--oracle ${neutralLine(name, 80)}`
}

function saidOf(conditions: readonly Expectation[]): string {
  return neutralLine(conditions.map(({ option, text }) => `${option} ${text}`).join(' '), 160)
}

async function isMet(one: Expectation, names: Names): Promise<boolean> {
  const { tapes, outcome } = names
  if (one.kind === 'value' && outcome !== undefined && one.fits(outcome)) return true
  if (isOfSeenValues(one, names)) return true
  const alone = createOracle({ by: 'expectations', ok: [one], bad: [] })
  return (await goodAmong(tapes, alone, (tape) => tape)) !== undefined
}

/**
 * Whether each value that is asked for was asked for by a model, was given to a tool or came from one: the agent could have
 * put it there, so it is hardly mistyped. A number may have had another name; a truth value has no other spelling.
 */
function isOfSeenValues(one: Expectation, names: Names): boolean {
  if (one.kind === 'rule' || neverSeen([one], names).length > 0) return false
  // A pattern has no value one could look for.
  if (one.kind === 'value' && one.value === undefined) return false
  const at = one.kind === 'value' ? String(one.path.findLast((key) => typeof key === 'string') ?? '') : ''
  const asked = one.kind === 'value' ? leavesOf(one.value, at) : leavesOf(one.args, '')
  const seen = new Set(names.tapes.flatMap(passedValues).flatMap((value) => leavesOf(value, '').map(keyOf)))
  return asked.every((leaf) => leaf.value === '*' || typeof leaf.value === 'boolean' || seen.has(keyOf(leaf)))
}

/**
 * Whether a value that is asked for came from no model and no tool: the agent's own code put it there. A call with any
 * arguments, a rule and a pattern have no value one could look for.
 */
function isMadeByCode(one: Expectation, { tapes }: Names): boolean {
  if (one.kind === 'rule') return false
  const value = one.kind === 'value' ? one.value : one.args
  if (value === undefined) return false
  const given = tapes.flatMap((tape) => {
    const steps = stepsBefore(one, tape)
    return [...givenValues(steps), ...steps.flatMap((step) => decisionOf(step)?.response?.text ?? [])]
  })
  const leaves = given.flatMap((from) => leavesOf(from, ''))
  return leavesOf(value, '').some(({ value: leaf }) => {
    const isIn = (from: Leaf['value']): boolean =>
      from === leaf || (typeof from === 'string' && from.includes(String(leaf)))
    return leaf !== '*' && !leaves.some((from) => isIn(from.value))
  })
}

/** What an answer to the call says of it was put there by the call. */
function stepsBefore(one: Expectation, tape: Tape): readonly Step[] {
  const calls = one.kind === 'call' ? traceOf(tape.events).layers.flat() : []
  const first = Math.min(...calls.filter((call) => one.kind === 'call' && one.isAmong([call])).map(({ n }) => n))
  return stepsOf(tape).filter(({ n }) => n < first)
}

/** What models asked of tools, no matter what the code made of it, and what tools and services were given and gave. */
function passedValues(tape: Tape): readonly Json[] {
  const asked = stepsOf(tape).flatMap((step): readonly Json[] => {
    if (step.kind !== 'exchange') return [presentArgs(step.args)]
    return decisionOf(step) === undefined ? jsonIn(requestText(step)) : []
  })
  return [...asked, ...givenValues(stepsOf(tape))]
}

/** What an agent was given: what its models asked of tools, and what tools and services answered. */
function givenValues(steps: readonly Step[]): readonly Json[] {
  return steps.flatMap((step): readonly Json[] => {
    if (step.kind !== 'exchange') return step.result === undefined ? [] : [step.result]
    const decision = decisionOf(step)
    if (decision !== undefined) return (decision.response?.toolCalls ?? []).map(({ args }) => args)
    return jsonIn(answerText(step).text)
  })
}

function jsonIn(text: string): readonly Json[] {
  return [parseJson(text) ?? []].flat()
}

/** A value that holds no other, and the last name on the way to it. */
interface Leaf {
  readonly name: string
  readonly value: Json | undefined
}

function leavesOf(
  value: Json | { readonly [key: string]: Json | undefined } | undefined,
  name: string,
): readonly Leaf[] {
  if (typeof value !== 'object' || value === null) return [{ name, value }]
  if (Array.isArray(value)) return (value as readonly Json[]).flatMap((item) => leavesOf(item, name))
  return Object.entries(value).flatMap(([key, below]) => leavesOf(below as Json, key))
}

function keyOf({ name, value }: Leaf): string {
  return JSON.stringify(typeof value === 'number' ? value : [name, value])
}

function unmetText(one: Expectation, names: Names): string {
  const [unknown] = neverSeen([one], names)
  if (unknown !== undefined) return unknown
  const seen = valuesSeen(one, names)
  const there = seen === undefined ? '' : ` (${seen})`
  return `${one.option} ${neutralLine(one.text, 80)}: no known run ${one.kind === 'value' ? 'returned' : 'does'} that${there}`
}
