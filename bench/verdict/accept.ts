import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { nodeIn } from '../catch/columns/run.ts'
import { verdictsInVitest, writeCases } from './cases.ts'
import type { Variant } from './project.ts'
import { command, environmentOf } from './steps.ts'

/** What accepting changed questions came to. */
export interface Accepted {
  readonly accepted: number
  /** Of them, those that are green afterwards. */
  readonly green: number
  /** Unproven ones that nobody accepted while others were, and those of them that stay unproven. */
  readonly others: number
  readonly unproven: number
  /** What is another thing afterwards than an acceptance in a case: `desk-099: not green`. */
  readonly complaints: readonly string[]
}

/**
 * Accepts the changed questions of cases.
 *
 * The one place that knows how a person does it.
 */
async function accept(project: string, ids: readonly string[]): Promise<void> {
  const args = ['accept', ...ids, '--reason', 'looked at, and meant']
  await nodeIn(project, [command, ...args], { ...environmentOf(project), CI: '' })
}

/**
 * Accepts every other one of the variants, which are all unproven, and then the rest; each time every case is replayed by
 * Vitest. Nothing but the acceptances may be another thing afterwards.
 */
export async function acceptInTwoHalves(project: string, variants: readonly Variant[]): Promise<Accepted> {
  using _cases = writeCases(project, variants)
  const [first, second] = [variants.filter((_, at) => at % 2 === 0), variants.filter((_, at) => at % 2 === 1)]
  const before = recordingsOf(project)
  await accept(project, idsOf(first))
  const half = await verdictsInVitest(project)
  const others = second.filter(({ id }) => half.byCase.get(id) === 'unproven')
  await accept(project, idsOf(second))
  const whole = await verdictsInVitest(project)
  const green = variants.filter(({ id }) => whole.byCase.get(id) === 'same')
  return {
    accepted: variants.length,
    green: green.length,
    others: second.length,
    unproven: others.length,
    complaints: [
      ...first.filter(({ id }) => half.byCase.get(id) !== 'same').map(({ id }) => `${id}: not green once accepted`),
      ...second
        .filter((each) => !others.includes(each))
        .map(({ id }) => `${id}: not unproven while others were accepted`),
      ...variants.filter((each) => !green.includes(each)).map(({ id }) => `${id}: not green in the end`),
      ...changedBeside(before, recordingsOf(project)),
    ],
  }
}

function idsOf(variants: readonly Variant[]): readonly string[] {
  return variants.map(({ id }) => id)
}

function recordingsOf(project: string): ReadonlyMap<string, string> {
  const dir = join(project, 'recordings')
  const files = globSync('**/*.{case.yaml,tape.jsonl,yaml}', { cwd: dir })
  return new Map(files.map((file) => [file, readFileSync(join(dir, file), 'utf8')]))
}

/** Files that are other ones, apart from what was accepted. */
function changedBeside(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): readonly string[] {
  const names = new Set([...before.keys(), ...after.keys()])
  return [...names]
    .filter(
      (file) => file !== 'accepted.yaml' && withoutAccepted(before.get(file)) !== withoutAccepted(after.get(file)),
    )
    .map((file) => `recordings/${file}: changed in more than what was accepted`)

  function withoutAccepted(text: string | undefined): string | undefined {
    if (text === undefined || text.startsWith('{')) return text
    const { accepted: _accepted, pins, ...rest } = parse(text) as Record<string, unknown>
    // Which code it was accepted with is said in a pin of its own.
    const { accepted: _code, ...recorded } = (pins ?? {}) as Record<string, unknown>
    return JSON.stringify({ ...rest, pins: recorded })
  }
}
