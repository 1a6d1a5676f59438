import type { BlameReport } from './report.ts'
import type { ForkSource } from './types.ts'
import type { BlameVerdict, Commitment, CodeAlone } from './verdict.ts'

/** So many free runs: of draws that save one run in five, fewer than 2 in 100 of them show nothing. */
const freeRuns = 20

/** How a run ends with every answer from its tape, and what its code draws itself resampled; `unknown`: that says nothing. */
export type CodeAloneEnd = 'ok' | 'bad' | 'unknown'

/** How free runs end that resample what the code draws from a position on. */
async function codeAloneAt(position: number, drawAgain: DrawAgain): Promise<CodeAlone> {
  const ends: CodeAloneEnd[] = []
  for (let i = 0; i < freeRuns; i++) ends.push(await drawAgain(position, `codeAlone ${i}`))
  const count = (end: CodeAloneEnd): number => ends.filter((one) => one === end).length
  return { ok: count('ok'), bad: count('bad'), unknown: count('unknown') }
}

type DrawAgain = (position: number, seed: string) => Promise<CodeAloneEnd>

/**
 * What the agent draws behind its last answer, where that alone saves as many runs as a step has to that is blamed: each fork
 * draws it again, no matter which answers it keeps, so that no step would show a difference. `undefined`: it does not.
 *
 * @param tau - the smallest difference of rates that is blamed
 */
export async function drawnBehind(
  { positions, drawsLast, drawAgain }: Pick<ForkSource, 'drawAgain' | 'drawsLast' | 'positions'>,
  tau: number,
): Promise<Commitment | undefined> {
  if (drawsLast !== true || drawAgain === undefined || positions.length === 0) return undefined
  const codeAlone = await codeAloneAt(positions.length, drawAgain)
  const { ok, bad } = codeAlone
  if (ok < tau * freeRuns) return undefined
  const forks = ok + bad
  return {
    position: positions.length - 1,
    how: 'draws',
    resampled: { ok, forks },
    kept: { ok: 0, forks: 0 },
    difference: ok / forks,
    codeAlone,
  }
}

/**
 * Says of each answer that is named or thought likely how free runs end that have all answers of the tape, and resample what the
 * code draws from that position on. Forks that resample a position do so before its question, too, and forks that keep it do
 * not: where draws alone save runs, the difference says nothing of the answer.
 */
export async function withCodeAlone<T extends Pick<BlameReport, 'earlier' | 'steps' | 'verdict'>>(
  report: T,
  drawAgain: DrawAgain,
): Promise<T> {
  const known = new Map<number, CodeAlone>()
  const of = async (position: number): Promise<CodeAlone> => {
    const before = known.get(position)
    if (before !== undefined) return before
    const codeAlone = await codeAloneAt(position, drawAgain)
    known.set(position, codeAlone)
    return codeAlone
  }
  const marked = async <C extends { readonly position: number }>(one: C): Promise<C & { codeAlone: CodeAlone }> => ({
    ...one,
    codeAlone: await of(one.position),
  })
  const all = async <C extends Commitment>(list: readonly C[]): Promise<readonly C[]> => {
    const made: C[] = []
    for (const one of list) made.push(one.codeAlone === undefined ? takenBack(await marked(one)) : one)
    return made
  }
  const { verdict, earlier } = report
  const said = {
    ...(verdict === undefined ? {} : { verdict: await verdictOf(verdict, { all, marked }) }),
    ...(earlier === undefined ? {} : { earlier: await all(earlier) }),
  }
  const isOfCode = ({ position }: { readonly position: number }): boolean => (known.get(position)?.ok ?? 0) > 0
  const steps = report.steps.map((step) => {
    if (!isOfCode(step)) return step
    const { commitment: _, ...rest } = step
    return rest
  })
  return { ...report, ...said, steps }
}

/** What was certified of an answer says nothing of it where draws alone save runs. */
function takenBack<C extends Commitment>(one: C): C {
  if ((one.codeAlone?.ok ?? 0) === 0) return one
  const { alpha: _alpha, evidence: _evidence, members: _members, ...rest } = one
  return { ...rest, how: 'draws' } as C
}

async function verdictOf(
  verdict: BlameVerdict,
  {
    all,
    marked,
  }: {
    all(list: readonly Commitment[]): Promise<readonly Commitment[]>
    marked<C extends { readonly position: number }>(one: C): Promise<C & { codeAlone: CodeAlone }>
  },
): Promise<BlameVerdict> {
  switch (verdict.kind) {
    case 'confirmed':
      return { ...verdict, commitments: await all(verdict.commitments) }
    case 'diffuse':
    case 'unresolved':
      return verdict.likeliest === undefined ? verdict : { ...verdict, likeliest: await marked(verdict.likeliest) }
    case 'never':
    case 'undecidable':
    case 'unsure':
      return verdict
  }
}
