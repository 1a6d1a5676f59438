import { counted, isAnyCall, type ArgsMatcher, signature } from './matcher.ts'
import type { ExpectedCall, TraceCall } from './types.ts'

/** Which actual call stands for each expected one, and what is left over. Numbers are positions in the lists given. */
export interface Pairing {
  /** In the order of the expected calls. */
  readonly pairs: readonly (readonly [expected: number, actual: number])[]
  readonly missing: readonly number[]
  readonly extra: readonly number[]
}

/**
 * Pairs expected with actual calls so that as many as possible are paired.
 *
 * A greedy pairing fails here: `search(*)` may take the only call that `search(query)` could have had. Calls that
 * are the same to the rules are paired by signature first where that can be no mistake, so big layers stay linear.
 *
 * @see H. W. Kuhn, The Hungarian method for the assignment problem, Naval Res. Logist. Q. 2 (1955) 83–97
 */
export function pairCalls(
  expected: readonly ExpectedCall[],
  actual: readonly TraceCall[],
  matcher: ArgsMatcher,
): Pairing {
  const mates = pairBySignature(expected, actual, matcher)
  const taken = new Set(mates)
  const openExpected = [...expected.keys()].filter((index) => mates[index] === -1)
  const openActual = [...actual.keys()].filter((index) => !taken.has(index))
  const edges = edgesBetween(openExpected, openActual, expected, actual, matcher)
  for (const [left, right] of maximumMatching(edges, openActual.length).entries()) {
    if (right !== -1) mates[openExpected[left] as number] = openActual[right] as number
  }
  const paired = new Set(mates)
  return {
    pairs: [...mates.entries()].filter(([, mate]) => mate !== -1),
    missing: [...mates.keys()].filter((index) => mates[index] === -1),
    extra: [...actual.keys()].filter((index) => !paired.has(index)),
  }
}

/**
 * Pairs equal signatures, tool by tool, where every expected call of the tool spells out no value or all of them.
 * Then an expected call is at least as narrow as any other that accepts the calls of its signature, so some maximum
 * matching has this pair: exchange the mates.
 */
function pairBySignature(
  expected: readonly ExpectedCall[],
  actual: readonly TraceCall[],
  matcher: ArgsMatcher,
): number[] {
  const mates = expected.map(() => -1)
  const spelling = spellings(expected, matcher)
  const waiting = new Map<string, number[]>()
  for (const [index, call] of actual.entries()) {
    const spelled = spelling.get(call.name)
    if (spelled === undefined || spelled === 'mixed') continue
    const key = signature(call, matcher, spelled === 'values') as string
    const queue = waiting.get(key)
    if (queue === undefined) waiting.set(key, [index])
    else queue.push(index)
  }
  // Taken from the front in order; a cursor per queue keeps it linear.
  const cursors = new Map<string, number>()
  for (const [index, call] of expected.entries()) {
    const spelled = spelling.get(call.name)
    const key =
      spelled === undefined || spelled === 'mixed' ? undefined : signature(call, matcher, spelled === 'values')
    if (key === undefined) continue
    const cursor = cursors.get(key) ?? 0
    const mate = waiting.get(key)?.[cursor]
    if (mate === undefined) continue
    cursors.set(key, cursor + 1)
    mates[index] = mate
  }
  return mates
}

type Spelling = 'keys' | 'values' | 'mixed'

/** How the expected calls of each tool spell their arguments out; those without any go with either way. */
function spellings(expected: readonly ExpectedCall[], matcher: ArgsMatcher): ReadonlyMap<string, Spelling> {
  const found = new Map<string, Spelling | 'none'>()
  for (const call of expected) {
    const before = found.get(call.name) ?? 'none'
    const spelled = spellingOf(call, matcher)
    if (before === 'none' || spelled === before) found.set(call.name, spelled)
    else if (spelled !== 'none') found.set(call.name, 'mixed')
  }
  return new Map([...found].map(([name, spelled]) => [name, spelled === 'none' ? 'keys' : spelled]))
}

function spellingOf({ name, args }: ExpectedCall, matcher: ArgsMatcher): Spelling | 'none' {
  const rule = matcher.ruleFor(name)
  if (rule.mode === 'custom') return 'mixed'
  if (args === '*' || rule.mode === 'ignore') return 'none'
  const values = counted(Object.keys(args), rule).map((key) => args[key])
  if (values.length === 0) return 'none'
  if (values.every((value) => value === undefined)) return 'keys'
  return values.includes(undefined) ? 'mixed' : 'values'
}

/** For each open expected call, the positions among the open actual calls that it accepts. */
function edgesBetween(
  openExpected: readonly number[],
  openActual: readonly number[],
  expected: readonly ExpectedCall[],
  actual: readonly TraceCall[],
  matcher: ArgsMatcher,
): readonly (readonly number[])[] {
  const all = [...openActual.keys()]
  const byName = Map.groupBy(all, (position) => (actual[openActual[position] as number] as TraceCall).name)
  return openExpected.map((index) => {
    const call = expected[index] as ExpectedCall
    if (isAnyCall(call)) return all
    const positions = byName.get(call.name) ?? []
    return positions.filter((position) => matcher.accepts(call, actual[openActual[position] as number] as TraceCall))
  })
}

/**
 * A maximum matching of a bipartite graph, by augmenting paths.
 *
 * @param edges - for each left node the right nodes it may have
 * @returns for each left node its right node, or -1
 */
export function maximumMatching(edges: readonly (readonly number[])[], rightCount: number): readonly number[] {
  const mateOfLeft = edges.map(() => -1)
  const mateOfRight = new Array<number>(rightCount).fill(-1)
  // Right nodes reached by a search that failed can be on no augmenting path later either.
  const dead = new Set<number>()
  for (const start of edges.keys()) {
    const cameFrom = new Map<number, number>()
    const end = searchFree(start, edges, mateOfRight, cameFrom, dead)
    if (end === undefined) for (const right of cameFrom.keys()) dead.add(right)
    // Back along the path: each left node gives up its mate for the one it was reached by.
    for (let right = end; right !== undefined && right !== -1; ) {
      const left = cameFrom.get(right) as number
      const before = mateOfLeft[left] as number
      mateOfLeft[left] = right
      mateOfRight[right] = left
      right = before
    }
  }
  return mateOfLeft
}

/** Breadth first from a left node along alternating edges to a right node without a mate. */
function searchFree(
  start: number,
  edges: readonly (readonly number[])[],
  mateOfRight: readonly number[],
  cameFrom: Map<number, number>,
  dead: ReadonlySet<number>,
): number | undefined {
  const queue = [start]
  for (const left of queue) {
    for (const right of edges[left] ?? []) {
      if (dead.has(right) || cameFrom.has(right)) continue
      cameFrom.set(right, left)
      const owner = mateOfRight[right]
      if (owner === undefined || owner === -1) return right
      queue.push(owner)
    }
  }
  return undefined
}
