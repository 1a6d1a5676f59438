// The one place that knows how a verdict is read from what the product says.
import type { Case } from '../../src/cases/index.ts'
import type { Drift, DriftPolicy, ReplayResult } from '../../src/match/types.ts'
import type { judge } from '../../src/verdict/index.ts'

export type Verdict = 'same' | 'different' | 'unproven'

export interface Judged {
  readonly verdict: Verdict
  /** Code of the error that says so. */
  readonly code?: string
  readonly what?: string
}

/** What is used of the built package. */
export interface Product {
  readonly judge: typeof judge
  readonly policyOf: (given: undefined) => Readonly<Record<string, DriftPolicy | 'unproven'>>
}

/** A replay, judged by its case, as the plugin does. */
export function verdictOfCase(product: Product, kase: Case, run: ReplayResult): Judged {
  const { isGreen, because } = { because: undefined, ...product.judge(kase, run, {}) }
  if (isGreen) return unlessUnproven(product, run)
  if (because === undefined) return { verdict: 'different' }
  const { code, facts } = because.error
  return { verdict: code === 'HARVEST_UNPROVEN' ? 'unproven' : 'different', code, what: facts.what }
}

/** A replay in a test written by hand that asserts nothing else: what `replay()` of `vitest-harvest/vitest` throws. */
export function verdictByHand(product: Product, run: ReplayResult): Judged {
  const problem = run.problems.find(({ code }) => code !== 'HARVEST_UNPROVEN')
  if (problem !== undefined) return { verdict: 'different', code: problem.code, what: problem.facts.what }
  const recorded = run.tape.close?.outcome.status
  if (recorded !== 'exited' && recorded !== run.outcome.status) return { verdict: 'different', what: 'another ending' }
  return unlessUnproven(product, run)
}

/** What failed in Vitest, by the text of its error. */
export function verdictOfFailure(message: string): Verdict {
  return /^HarvestUnproven\b|\(HARVEST_UNPROVEN\)/m.test(message) ? 'unproven' : 'different'
}

/** Keys of the changed questions: what a person has to look at. */
export function keysOf(product: Product, { drift }: Pick<ReplayResult, 'drift'>): readonly string[] {
  const keys = ofPolicy(product, drift, 'unproven').map((each) => {
    const { class: of, path, recorded, live, key } = each as Loose
    return key ?? `${of} ${path} ${recorded} ${live}`
  })
  return [...new Set(keys)]
}

function unlessUnproven(product: Product, run: ReplayResult): Judged {
  const [failing] = ofPolicy(product, run.drift, 'fail')
  if (failing !== undefined) return { verdict: 'different', code: `drift: ${failing.class}`, what: failing.path }
  const [changed] = ofPolicy(product, run.drift, 'unproven')
  return changed === undefined
    ? { verdict: 'same' }
    : { verdict: 'unproven', code: `drift: ${changed.class}`, what: changed.path }
}

/** Each drift says its policy; before there were three verdicts, only its class had one. */
function ofPolicy(product: Product, drift: readonly Drift[], policy: DriftPolicy | 'unproven'): readonly Drift[] {
  const policies = product.policyOf(undefined)
  return drift.filter((each) => ((each as Loose).policy ?? policies[each.class]) === policy)
}

type Loose = Omit<Drift, 'key' | 'policy'> & { readonly key?: string; readonly policy?: string }
