// Over 300 lines: the grid of planted kinds is one table, read from top to bottom.
import { families, type FamilyName, groupOf } from '../../faults/families.ts'
import {
  hasModel,
  plant,
  plantBesideDrawn,
  plantCoarseErosion,
  plantDrawn,
  plantMutants,
} from '../structural/families.ts'
import { noNoise, type Noise } from '../structural/model.ts'
import { type Random, randomOf } from '../structural/random.ts'
import type { Planted } from '../structural/sketch.ts'
import { type Truth, truthOf } from '../structural/truth.ts'

/** Tapes of one kind that are scored together: what is planted, how long the runs are, how noisy the agent is. */
export interface Cell {
  /** Such as `F5.and_2 n=50 slip=.01 drop>=.6`. */
  readonly id: string
  /** Name of a family, or of a group whose families take turns at random. */
  readonly subject: string
  readonly families: readonly FamilyName[]
  readonly length: number
  readonly noise: NoiseName
  readonly band: Band
  /** `mutations`: answers are changed and the outcome watched; `run`: a failed run is asked for its step. */
  readonly asks: 'run' | 'mutations'
  /** The run went well, and what is planted are mutants of its answers. */
  readonly plantsMutants?: true
  /** The chance to end well falls in a few steps, none of which is large enough to be the one. */
  readonly isCoarse?: true
  /** Without chance: look at every place behind the one found, for runs that recover and fail again. */
  readonly sweeps: boolean
  /** The other three columns are asked for, too. */
  readonly hasColumns: boolean
  /** Answers from outside come from the tape, kept or not. */
  readonly isTaped?: true
  /** The agent's own code draws what decides: before its first question, or before any other. */
  readonly isDrawn?: 'first' | 'any'
  /** It draws what decides nothing: before its first question, or before the one whose answer decides. */
  readonly drawsBeside?: 'first' | 'same'
  /** Which earlier places were necessary too is asked for as well. */
  readonly asksEarlier?: true
}

/**
 * How much an agent differs from itself: the chance of a slip per step. `quiet`: what it says does not show it. `chance`:
 * how often it decides right at the deciding step, resampled, and it says the same everywhere else. `stray`: the share of
 * forks that cannot be judged. `grading`: how often who grades says the contrary.
 */
export type NoiseName =
  | 'exact'
  | 'slip=.002'
  | 'slip=.005'
  | 'slip=.01'
  | 'slip=.03'
  | 'quiet'
  | 'quiet slip=.01'
  | 'slip=.01 stray=.1'
  | 'slip=.01 stray=.4'
  | `quiet chance=.${2 | 3 | 4 | 5}`
  | `slip=.01 grading=.${1 | 3}`

/** How large the largest drop of the curve is: tapes of a cell are drawn until theirs is of that size. */
export type Band = 'any' | 'drop>=.6' | 'drop .4-.6' | 'drop<.4'

export const lengths = [20, 50, 100, 200] as const

/** One tape of a cell: a model with what is right about it. */
export interface CellTape {
  readonly number: number
  readonly planted: Planted
  readonly truth: Truth
}

/** All cells of the engine level. */
export function gridCells(): readonly Cell[] {
  return [
    ...exactCells(),
    ...sharpCells(),
    ...mediumCells(),
    ...softCells(),
    ...coarseCells(),
    ...hardCells(),
    ...mutantCells(),
    ...chanceCells(),
    ...gradingCells(),
    ...tapedCells(),
    ...drawnCells(),
    ...besideDrawnCells(),
    ...earlierCells(),
  ]
}

/**
 * The first tapes of a cell, all of them different; the same ones for the same seed, however many are asked for.
 *
 * @throws RangeError when a cell has no such tapes
 */
export function* tapesOf(cell: Cell, count: number, seed: number): Generator<CellTape> {
  const seen = new Set<string>()
  let attempt = 0
  for (let number = 0; number < count; attempt++) {
    // Bands that few tapes fall into need many tries; a cell without any is a mistake of the grid.
    if (attempt > 400 * (number + 10)) throw new RangeError(`tapesOf: ${cell.id} has no more than ${number} tapes`)
    const random = randomOf(seed, cell.id, attempt)
    const planted = plantedIn(cell, random)
    const truth = truthOf(planted.model)
    const shape = shapeOf(planted)
    if (!isInBand(truth.drop, cell.band) || seen.has(shape)) continue
    seen.add(shape)
    yield { number, planted, truth }
    number++
  }
}

function plantedIn(cell: Cell, random: Random): Planted {
  if (cell.plantsMutants === true) return plantMutants(cell.length, noiseOf(cell, 'F7.no_op_mutation', random), random)
  if (cell.isCoarse === true) return plantCoarseErosion(cell.length, noiseOf(cell, 'F5.erosion', random), random)
  if (cell.isDrawn !== undefined)
    return plantDrawn(cell.length, noiseOf(cell, 'F5.single', random), random, cell.isDrawn)
  if (cell.drawsBeside !== undefined)
    return plantBesideDrawn(cell.length, noiseOf(cell, 'F5.single', random), random, cell.drawsBeside)
  const family = cell.families[Math.floor(random() * cell.families.length)]
  if (family === undefined) throw new RangeError(`tapesOf: ${cell.id} has no family`)
  const planted = plant(family, cell.length, noiseOf(cell, family, random), random)
  return cell.isTaped === true ? taped(planted) : planted
}

/** What comes from outside answers from the tape: keeping it is no other experiment than not keeping it. */
function taped(planted: Planted): Planted {
  const places = planted.model.places.map((place) => (place.isExogenous ? { ...place, isTaped: true as const } : place))
  return { ...planted, model: { ...planted.model, places } }
}

function noiseOf({ noise, band }: Cell, family: FamilyName, random: Random): Noise {
  if (noise === 'exact') return noNoise
  const chance = (name: string): number => Number(new RegExp(`${name}=(\\S+)`).exec(noise)?.[1] ?? 0)
  const shares = family === 'F6.recurrence' && band === 'drop>=.6' ? [0.1, 0.2, 0.3] : recurrences[band]
  return {
    slip: chance('slip'),
    recurrence: noise.includes('chance') ? 1 - chance('chance') : (shares[Math.floor(random() * shares.length)] ?? 0),
    correction: family === 'F6.self_correction' ? (random() < 0.5 ? 0.05 : 0.1) : 0,
    stray: chance('stray'),
    grading: chance('grading'),
    wording: noise.startsWith('quiet') ? 'same' : 'varies',
  }
}

/** Chances to recur that put drops into a band. */
const recurrences: Readonly<Record<Band, readonly number[]>> = {
  any: [0, 0.1, 0.2],
  'drop>=.6': [0, 0.1, 0.2],
  'drop .4-.6': [0.1, 0.2, 0.3, 0.5],
  'drop<.4': [0.5, 0.6, 0.7],
}

/** Two tapes of the same shape would be one tape counted twice. */
function shapeOf({ model: { places, noise }, agents }: Planted): string {
  const each = places.map(({ isExogenous, width, writes }, at) => [isExogenous, width, writes.length, agents[at]])
  return JSON.stringify([noise.recurrence, noise.correction, each])
}

function isInBand(drop: number, band: Band): boolean {
  if (band === 'any') return true
  if (band === 'drop>=.6') return drop >= 0.6
  return band === 'drop<.4' ? drop < 0.4 : drop >= 0.4 && drop < 0.6
}

/** Slips that leave runs of a length a fair chance to end well. */
const usualNoise: Readonly<Record<(typeof lengths)[number], NoiseName>> = {
  20: 'slip=.01',
  50: 'slip=.01',
  100: 'slip=.005',
  200: 'slip=.002',
}

/** Families that have a name of their own in the table; the others are scored by group. */
const apart: readonly string[] = ['F0', 'F5', 'F6', 'F7', 'F8']

interface Subject {
  readonly name: string
  readonly families: readonly FamilyName[]
}

const subjects: readonly Subject[] = [
  ...Map.groupBy(families.map(({ name }) => name).filter(hasModel), (name) =>
    apart.includes(groupOf(name)) ? name : groupOf(name),
  ),
].map(([name, list]) => ({ name, families: list }))

/** Chance is what they are about. */
const noisyOnly = ['F5.erosion', 'F6.', 'F7.no_op_mutation', 'F8.']
/** There is no step to be found, or none that must be. */
const withoutStep = ['F5.erosion', 'F5.never', 'F6.self_correction', 'F7.', 'F8.']
/** Causes that come from outside, so that they can be repaired. */
const withColumns = ['F1', 'F2', 'F4', 'F5.', 'F9', 'F10']

function exactCells(): readonly Cell[] {
  const all = subjects.filter(({ name }) => !startsWith(name, noisyOnly))
  const dips = subjects.filter(({ name }) => name === 'F5.dip_and_recover')
  return lengths.flatMap((length) => [
    ...all.map((one) => cellOf(one, length, 'exact')),
    ...dips.map((one) => sweeping(cellOf(one, length, 'exact'))),
  ])
}

function sweeping(cell: Cell): Cell {
  return { ...cell, id: `${cell.id} sweep`, sweeps: true, hasColumns: false }
}

function sharpCells(): readonly Cell[] {
  const all = subjects.filter(({ name }) => !startsWith(name, withoutStep))
  return lengths.flatMap((length) => all.map((one) => cellOf(one, length, usualNoise[length], 'drop>=.6')))
}

function mediumCells(): readonly Cell[] {
  const named = ['F1', 'F2', 'F4', 'F9', 'F5.single', 'F5.and_2', 'F5.or_2', 'F5.two_of_three', 'F5.preemption_early']
  const all = subjects.filter(({ name }) => named.includes(name) || name === 'F6.recurrence')
  return lengths.flatMap((length) => all.map((one) => cellOf(one, length, usualNoise[length], 'drop .4-.6')))
}

function softCells(): readonly Cell[] {
  const all = subjects.filter(({ name }) => startsWith(name, withoutStep))
  return lengths.flatMap((length) => all.map((one) => cellOf(one, length, usualNoise[length])))
}

function coarseCells(): readonly Cell[] {
  const erosion = subjects.filter(({ name }) => name === 'F5.erosion')
  return lengths.flatMap((length) =>
    ([usualNoise[length], ...(length > 50 ? [] : (['quiet', 'quiet slip=.01'] as const))] as const).flatMap((noise) =>
      erosion.map((one): Cell => {
        const cell = cellOf(one, length, noise)
        return { ...cell, id: `${cell.id} coarse`, isCoarse: true }
      }),
    ),
  )
}

/** Drops that are hardly any, more noise than anybody should have, and noise that what the agent says does not show. */
function hardCells(): readonly Cell[] {
  const named = (...names: readonly string[]): readonly Subject[] => subjects.filter(({ name }) => names.includes(name))
  const small = named('F5.single', 'F5.and_2', 'F5.or_2', 'F5.two_of_three', 'F4')
  return lengths.flatMap((length) => [
    ...small.map((one) => cellOf(one, length, usualNoise[length], 'drop<.4')),
    ...named('F5.single', 'F5.and_3', 'F5.or_3', 'F7.no_op_mutation').map((one) => cellOf(one, length, 'slip=.03')),
    ...named('F5.single').map((one) => cellOf(one, length, 'quiet slip=.01')),
    ...(length > 50
      ? []
      : named('F5.single').flatMap((one) => [
          cellOf(one, length, 'slip=.01 stray=.1', 'drop>=.6'),
          cellOf(one, length, 'slip=.01 stray=.4'),
        ])),
  ])
}

/** An agent that says the same each time, and decides right at one step with a chance. */
function chanceCells(): readonly Cell[] {
  const named = subjects.filter(({ name }) => name === 'F5.single' || name === 'F6.recurrence')
  return ([20, 50] as const).flatMap((length) =>
    ([2, 3, 4, 5] as const).flatMap((chance) => named.map((one) => cellOf(one, length, `quiet chance=.${chance}`))),
  )
}

/** Who grades disagrees with himself. */
function gradingCells(): readonly Cell[] {
  const named = subjects.filter(({ name }) => name === 'F5.single' || name === 'F7.environment')
  return ([20, 50] as const).flatMap((length) =>
    ([1, 3] as const).flatMap((share) => named.map((one) => cellOf(one, length, `slip=.01 grading=.${share}`))),
  )
}

/** Tools that answer from the tape: where the model decided wrong, and where an answer from outside was wrong. */
function tapedCells(): readonly Cell[] {
  const inside: readonly FamilyName[] = ['F0.wrong_system_prompt', 'F0.poisoned_argument']
  return ([20, 50] as const).flatMap((length) =>
    (['exact', 'quiet', usualNoise[length]] as const).flatMap((noise): readonly Cell[] => {
      const model = cellOf({ name: 'F0', families: inside }, length, noise)
      const outside = cellOf({ name: 'F7.environment', families: ['F5.single'] }, length, noise)
      return [
        { ...model, id: `F0 taped n=${length} ${noise}`, isTaped: true, hasColumns: false },
        { ...outside, id: `F7.taped n=${length} ${noise}`, isTaped: true, hasColumns: false },
      ]
    }),
  )
}

/** What code draws is resampled with the answer behind it: that the run is then saved says nothing of the answer. */
function drawnCells(): readonly Cell[] {
  return ([20, 50] as const).flatMap((length) =>
    (['exact', 'quiet', 'quiet chance=.3', usualNoise[length]] as const).flatMap((noise) =>
      (['first', 'any'] as const).map((isDrawn): Cell => {
        const cell = cellOf({ name: 'F7.drawn', families: ['F5.single'] }, length, noise)
        return { ...cell, id: `F7.drawn ${isDrawn} n=${length} ${noise}`, isDrawn }
      }),
    ),
  )
}

/** An answer decides: that code draws something beside it takes nothing back. */
function besideDrawnCells(): readonly Cell[] {
  const single: Subject = { name: 'F5.single', families: ['F5.single'] }
  return ([20, 50] as const).flatMap((length) =>
    [cellOf(single, length, usualNoise[length], 'drop>=.6'), cellOf(single, length, 'quiet chance=.4')].flatMap(
      (cell) =>
        (['first', 'same'] as const).map(
          (drawsBeside): Cell => ({
            ...cell,
            id: `${cell.id} beside a draw, ${drawsBeside}`,
            hasColumns: false,
            drawsBeside,
          }),
        ),
    ),
  )
}

/** Causes that had to come together, and others beside which no earlier one was necessary. */
function earlierCells(): readonly Cell[] {
  const named = ['F5.single', 'F5.and_2', 'F5.and_3', 'F5.or_2']
  const all = subjects.filter(({ name }) => named.includes(name))
  return ([20, 50] as const).flatMap((length) =>
    all.flatMap((one) =>
      [cellOf(one, length, 'exact'), cellOf(one, length, usualNoise[length], 'drop>=.6')].map(
        (cell): Cell => ({ ...cell, id: `${cell.id} earlier`, hasColumns: false, asksEarlier: true }),
      ),
    ),
  )
}

/** Values that are changed in runs that went well. */
function mutantCells(): readonly Cell[] {
  const values = subjects.filter(({ name }) => name === 'F1')
  return lengths.flatMap((length) =>
    (['exact', usualNoise[length]] as const).flatMap((noise) =>
      values.map(
        (one): Cell => ({
          ...cellOf(one, length, noise),
          id: `F1 mutated n=${length} ${noise}`,
          subject: 'F1 mutated',
          asks: 'mutations',
          hasColumns: false,
          plantsMutants: true,
        }),
      ),
    ),
  )
}

function cellOf({ name, families: all }: Subject, length: number, noise: NoiseName, band: Band = 'any'): Cell {
  return {
    id: `${name} n=${length} ${noise}${band === 'any' ? '' : ` ${band}`}`,
    subject: name,
    families: all,
    length,
    noise,
    band,
    sweeps: false,
    asks: name === 'F7.no_op_mutation' || name === 'F7.identical_response' ? 'mutations' : 'run',
    hasColumns:
      startsWith(name, withColumns) && !startsWith(name, withoutStep) && (band === 'any' || band === 'drop>=.6'),
  }
}

function startsWith(name: string, starts: readonly string[]): boolean {
  return starts.some((one) => (one.endsWith('.') ? name.startsWith(one) : name === one))
}
