import { chanceOf } from './chance.ts'
import { amountOf, type BookEntry, slipOf, totalOf } from './ledger.ts'
import { entryOf, isThere, type Luck, recorded, type World } from './world.ts'

/** A message of a chat, as far as the model reads it. */
export interface ModelMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly content?: string | null
  readonly tool_calls?: readonly { readonly function: { readonly arguments: string } }[]
}

/** What the model answers: the next questions, or its last word. */
export interface Thought {
  /** Which question of the run this is; they count from 0. */
  readonly question: number
  readonly content: string
  /** Another model answers than the one that was asked for. */
  readonly isOtherModel: boolean
  readonly calls: readonly { readonly name: string; readonly args: { readonly entry: number; readonly year: number } }[]
}

/**
 * The mind of the model: all it knows is the conversation and its luck. What it got wrong earlier stands in the
 * conversation, and so it goes on being wrong.
 */
export function think(world: World, luck: Luck, messages: readonly ModelMessage[]): Thought {
  const memory = read(messages)
  const { question } = memory
  const content = saidBesides(world, luck, question)
  const isOtherModel = isOther(world, luck, question)
  const erred = isOtherModel || slips(world, luck, question) ? slipOf(luck, question) : 0
  if (erred !== 0) content.push(`Carry ${erred.toFixed(3)}.`)
  content.push(...corrections(world, luck, memory))
  const asked = world.entries.flatMap((_, entry) => (Math.floor(entry / world.width) === question ? [entry] : []))
  if (asked.length === 0) return { question, isOtherModel, calls: [], content: lastWord(world, luck, memory, content) }
  const calls = asked.map((entry) => ({
    name: toolOf(world, entry),
    args: { entry, year: asksWrongly(world, luck, entry, memory) ? 2025 : 2026 },
  }))
  return { question, isOtherModel, calls, content: [`Question ${question}.`, ...content].join(' ') }
}

/** Words that change nothing. */
function saidBesides(world: World, luck: Luck, question: number): string[] {
  if (luck !== recorded) return []
  return world.plants.flatMap((plant) => {
    if (plant.what !== 'decoy' || plant.at !== question) return []
    if (plant.kind === 'paraphrase') return ['Let us see what comes next, shall we?']
    return plant.kind === 'apology' ? ['I am so sorry: I got that completely wrong!'] : []
  })
}

/** The name of the function that gets an entry. */
export function toolOf({ entries }: World, entry: number): string {
  const source = entries[entry] ?? 'tool'
  return { tool: 'read_entry', retrieval: 'search_entries', service: 'fetch_instruction', agent: 'ask_clerk' }[source]
}

/** What a clerk says of an entry it has looked up. */
export function wordOf(entry: BookEntry): string {
  return `Entry ${JSON.stringify(entry)}`
}

interface Memory {
  readonly question: number
  /** Amounts by entry, in the order in which they became known. */
  readonly known: ReadonlyMap<number, number>
  readonly carried: number
  readonly smudges: number
  /** It sees itself having asked for another year. */
  readonly askedWrongly: boolean
}

const entryPattern = /Entry (\{[^}]*\})/g
const carryPattern = /Carry (-?[\d.]+)\./
const correctionPattern = /Correction: entry (\d+) is (-?\d+)\./g

function read(messages: readonly ModelMessage[]): Memory {
  let question = 0
  let carried = 0
  let smudges = 0
  let askedWrongly = false
  const byId = new Map<string, { readonly entry: number; readonly amount: number }>()
  const corrected = new Map<number, number>()
  for (const { role, content, tool_calls: calls = [] } of messages) {
    const said = content ?? ''
    if (role === 'assistant' || said.startsWith('No answer')) question++
    if (role === 'assistant') {
      askedWrongly ||= calls.some(({ function: { arguments: args } }) => args.includes('2025'))
      carried += Number(carryPattern.exec(said)?.[1] ?? 0)
      for (const [, entry, amount] of said.matchAll(correctionPattern)) corrected.set(Number(entry), Number(amount))
      continue
    }
    if (said.includes('(smudged)')) smudges++
    let heard = 0
    for (const [, json = ''] of said.matchAll(entryPattern)) {
      const told = JSON.parse(json) as BookEntry
      // Said twice in one message, it counts twice; said again later, it is another word on the same thing.
      heard += amountOf(told)
      byId.delete(told.id)
      byId.set(told.id, { entry: told.entry, amount: heard })
    }
  }
  const known = new Map([...byId.values()].map(({ entry, amount }) => [entry, amount]))
  for (const [entry, amount] of corrected) known.set(entry, amount)
  return { question, known, carried, smudges, askedWrongly }
}

function isOther(world: World, luck: Luck, question: number): boolean {
  const isSwapped = world.plants.some((plant) => plant.what === 'model' && plant.question <= question)
  return isSwapped && (luck === recorded || world.isPermanent)
}

function slips({ noise }: World, luck: Luck, question: number): boolean {
  return luck !== recorded && chanceOf(luck, question, 'slip') < noise.slip
}

function asksWrongly(world: World, luck: Luck, entry: number, { askedWrongly }: Memory): boolean {
  return world.plants.some((plant) => {
    if (plant.what !== 'argument') return false
    if (plant.isEchoed === true && plant.entry < entry) return askedWrongly
    return plant.entry === entry && isThere(world, luck, plant)
  })
}

function corrections(world: World, luck: Luck, { question, known }: Memory): readonly string[] {
  if (luck === recorded || world.noise.correction === 0) return []
  return [...known].flatMap(([entry, amount]) => {
    const right = amountOf(entryOf(world, entry))
    const isFound = amount !== right && chanceOf(luck, question, entry, 'found') < world.noise.correction
    return isFound ? [`Correction: entry ${entry} is ${right}.`] : []
  })
}

function lastWord(world: World, luck: Luck, memory: Memory, said: readonly string[]): string {
  // What it puts right in its last word counts already.
  const known = new Map(memory.known)
  for (const [, entry, amount] of said.join(' ').matchAll(correctionPattern)) known.set(Number(entry), Number(amount))
  const slip = Number(carryPattern.exec(said.join(' '))?.[1] ?? 0)
  const total = totalOf(world.groups, known) + memory.carried + slip
  return JSON.stringify({ total: Math.round(1000 * (total + misread(world, luck, memory))) / 1000 })
}

function misread(world: World, luck: Luck, { smudges }: Memory): number {
  const incapable = world.plants.find(({ what }) => what === 'incapable')
  if (incapable !== undefined && isThere(world, luck, incapable)) return 13
  return chanceOf(luck, 'smudges') < 0.05 + (0.95 * smudges) / world.entries.length ? 11 * Math.sign(smudges) : 0
}
