import { type Mutation, mutations } from './mutations.ts'
import { seeded } from './random.ts'
import type { Asked } from './request.ts'

/** A request that is recorded, and the one that is asked in its place. */
export interface Pair {
  readonly mutation: Mutation
  readonly recorded: Asked
  readonly asked: Asked
}

/** What one run asks, with the input the run is given. */
export interface Session {
  readonly input: { readonly tickets: readonly string[] }
  readonly pairs: readonly Pair[]
}

const kept = mutations.filter(({ differs }) => differs !== 'not kept')
const notKept = mutations.filter(({ differs }) => differs === 'not kept')

/**
 * The run of this number: as many pairs as wanted, every mutation equally often over many runs. What no tape may keep
 * differs in every tenth run and in no other: a question that is answered as another one leaves its own answer over,
 * and what comes after it would be judged by that. The same seed and number give the same run in every process.
 */
export function sessionOf(seed: number, number: number, size: number): Session {
  const random = seeded(seed * 100_003 + number)
  const tickets: string[] = []
  const template = (): string => {
    tickets.push(`The ${random.id(5)} teapot came ${random.pick(['broken', 'late', 'twice'])} for ${random.id(6)}`)
    return tickets.at(-1) ?? ''
  }
  const recorded = new Set<string>()
  const pairs: Pair[] = []
  const from = number % 10 === 9 ? notKept : kept
  while (pairs.length < size) {
    const mutation = from[(number * size + pairs.length) % from.length] as Mutation
    const [before, now] = mutation.pair(random, template)
    if (mutation.differs === 'nowhere' && before.meaning !== now.meaning)
      throw new RangeError(`${mutation.name} is said to change nothing:\n${before.meaning}\n${now.meaning}`)
    // Some changes cannot be made to some requests, and no two recorded requests may mean the same.
    if (mutation.differs !== 'nowhere' && before.meaning === now.meaning) continue
    if (recorded.has(before.meaning)) continue
    recorded.add(before.meaning)
    pairs.push({ mutation, recorded: before, asked: now })
  }
  return { input: { tickets }, pairs }
}
