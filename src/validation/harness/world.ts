import { chanceOf } from './chance.ts'
import { amountOf, type EntryGroup, type BookEntry, spoil, totalOf, trueEntry, type ValueFault } from './ledger.ts'

/**
 * Everything one planted run is made of. The agent's task is to add up a ledger: question by question the model asks for
 * entries, and at the end says the total.
 */
export interface World {
  /** Part of the address its model answers at. */
  readonly id: string
  readonly seed: number
  /** Where each entry comes from. */
  readonly entries: readonly EntrySource[]
  /** Entries the model asks for at once. */
  readonly width: number
  readonly groups: readonly EntryGroup[]
  readonly plants: readonly Plant[]
  readonly noise: ModelNoise
  /** The model answers as a stream of events. */
  readonly isStreamed: boolean
  /** What the agent does when the model gives no answer. */
  readonly onError: 'throw' | 'skip'
  /** How often the SDK tries again. */
  readonly retries: number
  /** What is planted is there in every run, not only in the recorded one. */
  readonly isPermanent: boolean
  /** The model's name, and which of its two selves answers. */
  readonly model: string
}

/** How an entry is got: a tool, a search, an HTTP service, or another agent that is asked for it. */
export type EntrySource = 'tool' | 'retrieval' | 'service' | 'agent'

/** Something that goes wrong while the run is recorded. */
export type Plant =
  /** The answer about an entry is wrong, or missing. */
  | { readonly what: 'value'; readonly entry: number; readonly fault: ValueFault | 'timeout' }
  /** The model asks for the entry of another year; and, when it echoes, goes on doing so as it sees what it did. */
  | { readonly what: 'argument'; readonly entry: number; readonly isEchoed?: true }
  /** What another agent says of an entry does not arrive as it was said. */
  | { readonly what: 'message'; readonly entry: number; readonly fault: MessageFault }
  /** The answer about an entry takes its time, and others overtake it. */
  | { readonly what: 'delay'; readonly entry: number }
  /** The model's answer to a question does not come through. */
  | { readonly what: 'http'; readonly question: number; readonly fault: HttpFault }
  /** From this question on another model answers, which errs in every answer. */
  | { readonly what: 'model'; readonly question: number }
  /** Every answer is smudged: the more of them are known, the likelier the model reads one wrong. */
  | { readonly what: 'smudges' }
  /** Something that changes the conversation and not its end, at a question or an entry. */
  | { readonly what: 'decoy'; readonly at: number; readonly kind: 'paraphrase' | 'apology' | 'extra_field' | '429' }
  /** The model never gets it right. */
  | { readonly what: 'incapable' }

export type MessageFault = 'dropped' | 'delayed' | 'duplicated' | 'contradicting'

export type HttpFault =
  | '429'
  | '429_retry_after'
  | '500'
  | '503'
  | '529'
  | 'reset'
  | 'truncated_json'
  | 'truncated_sse'
  | 'malformed_chunk'
  | 'html'
  | 'empty'
  | 'slow'
  | 'duplicate'

/** Chances of the model, per answer. */
export interface ModelNoise {
  /** It errs again. */
  readonly slip: number
  /** Resampled, it makes the planted mistake again. */
  readonly recurrence: number
  /** It finds a wrong entry among those it knows and puts it right. */
  readonly correction: number
}

/** Where a run gets its chance from: the recorded one has what is planted and no other mistake. */
export type Luck = string
export const recorded: Luck = 'recorded'

/** Whether something planted is there in a run. */
export function isThere(world: World, luck: Luck, plant: Plant): boolean {
  if (luck === recorded || world.isPermanent) return true
  if (plant.what === 'incapable') return chanceOf(luck, 'incapable') >= 0.01
  return chanceOf(luck, 'again', JSON.stringify(plant)) < world.noise.recurrence
}

/** The true entry. What is read twice or more, to be compared, is one and the same. */
export function entryOf({ seed, groups }: World, entry: number, year?: number): BookEntry {
  const group = groups.find(({ by, of }) => by !== 'sum' && by !== 'last' && of.includes(entry))
  return { ...trueEntry(seed, group?.of[0] ?? entry, year), entry, id: `E-${entry}` }
}

/** The total that is right. */
export function rightTotal(world: World): number {
  return totalWith(world, [])
}

/** The total of a run in which just these plants are there. */
export function totalWith(world: World, plants: readonly Plant[]): number {
  const known = new Map<number, number>()
  const late = plants.flatMap((plant) => (plant.what === 'delay' ? [plant.entry] : []))
  const order = world.entries.map((_, entry) => entry)
  for (const entry of [...order.filter((one) => !late.includes(one)), ...late]) {
    known.set(entry, amountWith(world, plants, entry))
  }
  const lost = plants.flatMap((plant) => {
    if (plant.what === 'value' && plant.fault === 'collision') return [plant.entry === 0 ? 1 : plant.entry - 1]
    if (plant.what !== 'http') return []
    return world.entries.flatMap((_, entry) => (Math.floor(entry / world.width) === plant.question ? [entry] : []))
  })
  for (const entry of lost) known.delete(entry)
  return totalOf(world.groups, known)
}

function amountWith(world: World, plants: readonly Plant[], entry: number): number {
  const right = entryOf(world, entry)
  return plants.reduce((amount, plant) => {
    if (!('entry' in plant)) return amount
    const isEcho = plant.what === 'argument' && plant.isEchoed === true && plant.entry < entry
    if (plant.entry !== entry && !isEcho) return amount
    switch (plant.what) {
      case 'value':
        return plant.fault === 'timeout' ? 0 : amountOf(spoil(right, plant.fault))
      case 'argument':
        return amountOf(entryOf(world, entry, 2025))
      case 'message':
        return amountHeard(amount, plant.fault)
      case 'delay':
        return amount
    }
  }, amountOf(right))
}

function amountHeard(amount: number, fault: MessageFault): number {
  if (fault === 'duplicated') return 2 * amount
  return fault === 'contradicting' ? amount + contradiction : 0
}

/** By how much the second of two contradicting messages differs. */
export const contradiction = 77
