import type { Position } from '../../blame/types.ts'
import { type ExchangeEvent, type Json, requestBytes, type Step, stepsOf, type Tape } from '../../tape/index.ts'
import { minimalDrop, type Truth } from '../structural/truth.ts'
import type { ModelMessage } from './mind.ts'
import { type Plant, rightTotal, totalWith, type World } from './world.ts'

/** What is right about a planted run, by the positions of its tape. */
export interface PlantedTruth {
  readonly truth: Truth
  /** Positions that differ and do not matter. */
  readonly decoys: readonly number[]
  /** The recorded run went well. */
  readonly isPassing: boolean
  /** No chance is at work in its forks. */
  readonly isExact: boolean
}

/**
 * Says what is right about a recorded run. Where things were planted is read from the tape, by what each step asks; what
 * follows from them is computed from the ledger, without any run.
 *
 * @throws RangeError when something planted is not on the tape
 */
export function truthOf(world: World, tape: Tape, positions: readonly Position[]): PlantedTruth {
  const steps = stepsOf(tape)
  const positionOf = (step: number): number => positions.findIndex(({ steps: members }) => members.includes(step))
  const placed = world.plants.map((plant) => ({ plant, step: stepOf(world, plant, tape) }))
  const at = placed.flatMap(({ plant, step }) => (step === undefined ? [] : [{ plant, position: positionOf(step) }]))
  const causes = at.filter(({ plant }) => isHarm(world, plant)).sort((a, b) => a.position - b.position)
  const inPositions = (of: (step: Step) => boolean): readonly number[] =>
    steps.flatMap((step, index) => (of(step) ? [positionOf(index + 1)] : []))
  const questions = inPositions((step) => step.kind === 'exchange' && questionOf(step) !== undefined)
  const answers = inPositions((step) => step.kind === 'tool' && step.name === 'read_entry')
  const isPassing = isRight(world, tape)
  const curve = positions.map((_, keep) => chanceAt({ world, causes, questions, answers }, keep))
  const isExact = world.plants.every(({ what }) => what !== 'smudges' && what !== 'incapable') && isQuiet(world)
  return {
    truth: { ...readCurve([...curve, isPassing ? 1 : 0]), columns: columnsOf(world, causes, positions) },
    decoys: at.flatMap(({ plant, position }) => (isHarm(world, plant) ? [] : [position])),
    isPassing,
    isExact,
  }
}

interface Placed {
  readonly plant: Plant
  readonly position: number
}

interface Run {
  readonly world: World
  /** What can do harm, in the order of the run. */
  readonly causes: readonly Placed[]
  /** Positions in which the auditor's model is asked, and in which an entry is read. */
  readonly questions: readonly number[]
  readonly answers: readonly number[]
}

/** The chance that a run ends well that keeps this many positions: what is resampled is as the world's noise says. */
function chanceAt({ world, causes, questions, answers }: Run, keep: number): number {
  const { noise, plants } = world
  if (plants.some(({ what }) => what === 'incapable')) return 0.01
  const live = questions.filter((position) => position >= keep).length
  const unslipped = (1 - noise.slip) ** live
  if (plants.some(({ what }) => what === 'smudges')) {
    const kept = answers.filter((position) => position < keep).length / world.entries.length
    return unslipped * (kept === 0 ? 1 : 0.95 * (1 - kept))
  }
  const again = world.isPermanent ? 1 : noise.recurrence
  const wellWith = (there: readonly Placed[]): number => {
    if (endsWell(world, there)) return 1
    const last = Math.max(keep - 1, ...there.map(({ position }) => position))
    const looks = questions.filter((position) => position > last).length
    return 1 - (1 - noise.correction) ** looks
  }
  const kept = causes.filter(({ position }) => position < keep)
  const drawn = causes.filter(({ position }) => position >= keep)
  return unslipped * expectedOver(drawn, again, (there) => wellWith([...kept, ...there]))
}

/** The mean over which of some things are there, each with the same chance. */
function expectedOver(
  things: readonly Placed[],
  chance: number,
  value: (there: readonly Placed[]) => number,
  there: readonly Placed[] = [],
): number {
  const [first, ...rest] = things
  if (first === undefined) return value(there)
  const without = chance === 1 ? 0 : (1 - chance) * expectedOver(rest, chance, value, there)
  return without + (chance === 0 ? 0 : chance * expectedOver(rest, chance, value, [...there, first]))
}

function endsWell(world: World, there: readonly Placed[]): boolean {
  const plants = there.map(({ plant }) => plant)
  const isBroken = plants.some(
    (plant) => plant.what === 'model' || (plant.what === 'http' && world.onError === 'throw'),
  )
  return !isBroken && totalWith(world, plants) === rightTotal(world)
}

function isQuiet({ noise }: World): boolean {
  return noise.slip === 0 && noise.recurrence === 0 && noise.correction === 0
}

/** Whether the recorded run ended with the right total. */
function isRight(world: World, { close }: Tape): boolean {
  if (close?.outcome.status !== 'returned') return false
  return (close.outcome.value as { readonly total?: Json } | undefined)?.total === rightTotal(world)
}

/** Drops that are this near to the largest one are as good an answer. */
const nearlyLargest = 0.8

function readCurve(curve: readonly number[]): Omit<Truth, 'columns'> {
  const drops = curve.slice(0, -1).map((chance, j) => chance - (curve[j + 1] ?? 0))
  const drop = drops.reduce((most, one) => Math.max(most, one), 0)
  return {
    curve,
    drop,
    commitments: drops.flatMap((one, j) => (one >= minimalDrop && one >= nearlyLargest * drop ? [j] : [])),
    commitment: drop < minimalDrop ? -1 : drops.findLastIndex((one) => one >= drop - 1e-9),
  }
}

/** By trying every repair of what was planted in answers from outside: the rest of the run is resampled. */
function columnsOf(world: World, causes: readonly Placed[], positions: readonly Position[]): Truth['columns'] {
  const outside = causes.filter(({ position }) => positions[position]?.isExogenous === true)
  const wellWithout = (repaired: readonly Placed[]): boolean =>
    endsWell(
      world,
      outside.filter((one) => !repaired.includes(one)),
    )
  const isCurable = wellWithout(outside)
  const subsets = outside.reduce<readonly (readonly Placed[])[]>(
    (sets, one) => [...sets, ...sets.map((set) => [...set, one])],
    [[]],
  )
  const working = subsets.filter(wellWithout)
  const minimal = working.filter(
    (set) => !working.some((other) => other.length < set.length && other.every((one) => set.includes(one))),
  )
  const numbers = (set: readonly Placed[]): readonly number[] => set.map(({ position }) => position)
  return {
    necessary: numbers(outside.filter((one) => wellWithout([one]))),
    sufficient: isCurable ? numbers(outside.filter((one) => !endsWell(world, [one]))) : [],
    repairSets: minimal.map(numbers),
  }
}

function isHarm({ groups }: World, plant: Plant): boolean {
  if (plant.what === 'decoy') return false
  return !('entry' in plant) || groups.some(({ of }) => of.includes(plant.entry))
}

/** The step in which something planted entered the run; `undefined` for what is in no step. */
function stepOf(world: World, plant: Plant, tape: Tape): number | undefined {
  const steps = stepsOf(tape)
  const place = placeOf(world, plant)
  if (place === undefined) return undefined
  // Of a question that was tried twice, the first try was refused.
  const found = steps.findIndex((step) => isAt(step, place))
  if (found === -1) throw new RangeError(`the tape ${tape.header.id} has no ${JSON.stringify(place)}`)
  return found + 1
}

type Place =
  | { readonly question: number }
  | { readonly entry: number; readonly names: readonly string[] }
  | { readonly path: string }

function placeOf(world: World, plant: Plant): Place | undefined {
  switch (plant.what) {
    case 'value':
    case 'delay':
      return placeOfEntry(world, plant.entry)
    case 'message':
      return { entry: plant.entry, names: ['deliver'] }
    case 'argument':
      return { question: Math.floor(plant.entry / world.width) }
    case 'http':
    case 'model':
      return { question: plant.question }
    case 'decoy':
      return plant.kind === 'extra_field' ? placeOfEntry(world, plant.at) : { question: plant.at }
    case 'smudges':
    case 'incapable':
      return undefined
  }
}

function placeOfEntry({ entries }: World, entry: number): Place {
  if (entries[entry] === 'service') return { path: `/instructions/${entry}` }
  return { entry, names: ['read_entry', 'search_entries'] }
}

function isAt(step: Step, place: Place): boolean {
  if ('path' in place) return step.kind === 'exchange' && new URL(step.url).pathname.endsWith(place.path)
  if ('question' in place) return step.kind === 'exchange' && questionOf(step) === place.question
  if (step.kind === 'exchange' || !place.names.includes(step.name)) return false
  return (step.args as { readonly entry?: Json }).entry === place.entry
}

/** Which question of the auditor a request is; `undefined` when it is not one. */
function questionOf(step: ExchangeEvent): number | undefined {
  if (!step.url.endsWith('/chat/completions')) return undefined
  const { messages } = JSON.parse(requestBytes(step).toString('utf8')) as { readonly messages: readonly ModelMessage[] }
  if (messages[0]?.content !== 'auditor') return undefined
  return messages.filter(({ role, content }) => role === 'assistant' || (content ?? '').startsWith('No answer')).length
}
