import { type Confinement, confinements } from '../seam/intercept/confine.ts'

/** How the processes are shut in which cases run, for all agents or by agent. */
export type ConfineOption = Confinement | ConfineByAgent

export interface ConfineByAgent {
  /** For agents that are not named. Default `seam`. */
  readonly default?: Confinement
  /** Agents that need what would be refused, such as native add-ons: `{ images: 'seam' }`. */
  readonly agents?: Readonly<Record<string, 'seam'>>
}

export type ReadsOption = 'all' | 'project'
export const readsOptions: readonly ReadsOption[] = ['all', 'project']

/** The option after its defaults. */
export interface ConfineSetting {
  readonly how: Confinement
  /** Names of agents that are left at `seam`. */
  readonly open: readonly string[]
  readonly reads: ReadsOption
}

/** What is wrong with the option: its name, its value, and what is expected. */
export type ConfineIssue = readonly [name: string, value: unknown, expected: string]

/** Takes the option apart, or says what is wrong with it. */
export function readConfine(
  given: unknown,
  reads: unknown,
  agents: object,
): { readonly setting: ConfineSetting } | { readonly issue: ConfineIssue } {
  const wrong = (name: string, value: unknown, expected: readonly string[]) => ({
    issue: [name, value, expected.join(', ')] as const,
  })
  if (!readsOptions.includes(reads as ReadsOption)) return wrong('reads', reads, readsOptions)
  const isList = typeof given === 'object' && given !== null && !Array.isArray(given)
  const by: { readonly [name: string]: unknown } = isList ? { ...given } : { default: given }
  const unknown = Object.keys(by).find((name) => name !== 'default' && name !== 'agents')
  if (unknown !== undefined) return wrong(`confine.${unknown}`, 'not an option of confine', ['default', 'agents'])
  const { default: how = 'seam', agents: left = {} } = by
  if (!confinements.includes(how as Confinement))
    return wrong(isList ? 'confine.default' : 'confine', how, confinements)
  if (typeof left !== 'object' || left === null) return wrong('confine.agents', left, ["{ agent: 'seam' }"])
  for (const [name, value] of Object.entries(left)) {
    if (!Object.hasOwn(agents, name)) return wrong(`confine.agents.${name}`, 'no such agent', Object.keys(agents))
    if (value !== 'seam') return wrong(`confine.agents.${name}`, value, ['seam'])
  }
  if (reads === 'project' && how !== 'strict') return wrong('reads', "'project' without confine: 'strict'", ['all'])
  return {
    setting: { how: how as Confinement, open: how === 'seam' ? [] : Object.keys(left), reads: reads as ReadsOption },
  }
}
