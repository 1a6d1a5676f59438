import { type BookEntry, spoil } from './ledger.ts'
import { wordOf } from './mind.ts'
import { contradiction, entryOf, isThere, type Luck, type Plant, recorded, type World } from './world.ts'

/** A message on its way. */
export interface BookMessage {
  readonly from: string
  readonly to: string
  readonly entry: number
  readonly words: string
}

/** The surroundings of a run: the bookkeeping it reads and the bus its agents talk over, with what is planted in them. */
export function openBooks(world: World, luck: Luck) {
  const planted = <What extends Plant['what']>(what: What, entry: number): Extract<Plant, { what: What }> | undefined =>
    world.plants.find(
      (plant): plant is Extract<Plant, { what: What }> =>
        plant.what === what && 'entry' in plant && plant.entry === entry && isThere(world, luck, plant),
    )

  return {
    async read({ entry, year }: { readonly entry: number; readonly year: number }): Promise<BookEntry> {
      const right = entryOf(world, entry, year)
      if (planted('delay', entry)) await new Promise((resolve) => setTimeout(resolve, 5))
      const plant = planted('value', entry)
      if (plant === undefined) return { ...right, ...noteOn(world, luck, entry) }
      if (plant.fault === 'timeout') throw new Error(`no answer about entry ${entry} in time`)
      return spoil(right, plant.fault)
    },

    /** What arrives of a message, by now. */
    async deliver({ entry, words }: BookMessage): Promise<readonly string[]> {
      await Promise.resolve()
      const plant = planted('message', entry)
      switch (plant?.fault) {
        case undefined:
          return [words]
        // A message that is delayed arrives when everything has been added up.
        case 'dropped':
        case 'delayed':
          return []
        case 'duplicated':
          return [`${words}\n${words}`]
        case 'contradicting': {
          const { debit, ...rest } = entryOf(world, entry)
          return [words, `On second thought: ${wordOf({ ...rest, debit: debit + contradiction })}`]
        }
      }
    },
  }
}

/** What stands beside an entry: a remark that is not read, or that it is hard to read. */
function noteOn(world: World, luck: Luck, entry: number): Pick<BookEntry, 'note'> {
  const plant = world.plants.find(
    (one) => one.what === 'smudges' || (one.what === 'decoy' && one.kind === 'extra_field' && one.at === entry),
  )
  if (plant === undefined || luck !== recorded) return {}
  return { note: plant.what === 'smudges' ? '(smudged)' : 'checked twice' }
}
