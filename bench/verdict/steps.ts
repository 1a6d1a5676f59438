import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { nodeIn } from '../catch/columns/run.ts'
import { subjects } from './agents/index.ts'
import { layOut, type Variant } from './project.ts'
import type { Replayed } from './replayed.ts'
import { mislabelled, type Wire } from './wire.ts'

/** Lays a project out, records each agent once against the loopback world, and promotes the tapes. */
export async function prepare(project: string, variants: readonly Variant[]): Promise<void> {
  layOut(project, variants)
  writeConfig(
    project,
    subjects.map(({ name }) => `${name}-000`),
  )
  await child(project, 'record.child.ts')
  for (const { name } of subjects) {
    // That the agents as they are replay is seen by `replayAll`.
    const promote = [command, 'promote', name, '--as', name, '--unverified']
    await nodeIn(project, promote, environmentOf(project))
  }
}

/** Tells the plugin which agents there are, and nothing else. */
export function writeConfig(project: string, ids: readonly string[]): void {
  const agents = Object.fromEntries(ids.map((id) => [id, `./bench/verdict/agents/${id}/agent.ts#agent`]))
  writeFileSync(
    join(project, 'vitest.config.ts'),
    `import { defineConfig } from 'vitest/config'
import { harvest } from 'vitest-harvest/plugin'

export default defineConfig({
  plugins: [harvest({ agents: ${JSON.stringify(agents)} })],
  test: { include: ['src/**/*.test.ts'], silent: true },
})
`,
  )
}

/** `harvest`, as seen from a project. */
export const command = 'node_modules/vitest-harvest/dist/cli/main.js'

/** What every process of a project has in its environment. */
export function environmentOf(project: string): Readonly<Record<string, string>> {
  return { ...printKey, GATEWAY: readFileSync(join(project, 'gateway'), 'utf8') }
}

/** Redacted values are compared by digests under this key. */
const printKey = { HARVEST_FINGERPRINT_KEY: 'YmVuY2gtdmVyZGljdC1vZi1sb29wYmFjay13b3JsZHM=' }

/**
 * Runs every variant live and holds its label against what went over the wire.
 *
 * @returns what is called otherwise than it is; a bench goes on only without any
 */
export async function mislabelledOf(project: string, variants: readonly Variant[]): Promise<readonly string[]> {
  const seen = await child<Record<string, Wire>>(project, 'truth.child.ts', variants)
  return variants.flatMap(({ id, agent, edit }) => {
    const [base, live] = [seen[`${agent}-000`], seen[id]]
    if (base === undefined || live === undefined) throw new Error(`${id} did not run live`)
    const complaint = edit === undefined ? undefined : mislabelled(edit.kind, base, live)
    return complaint === undefined ? [] : [`${id} (${edit?.kind}, ${edit?.name}): ${complaint}`]
  })
}

/** Replays every variant in one process. */
export async function replayAll(project: string, variants: readonly Variant[]): Promise<ReadonlyMap<string, Replayed>> {
  const replayed = await child<Record<string, Replayed>>(project, 'replay.child.ts', variants)
  for (const { id, edit } of variants) {
    const of = replayed[id]
    if (of === undefined) throw new Error(`${id} was not replayed`)
    for (const judged of [of.case, of.hand])
      if (edit === undefined && judged.verdict !== 'same')
        throw new Error(`${id}, the agent as it is, is ${judged.verdict}: ${judged.code}, ${judged.what}`)
  }
  return new Map(Object.entries(replayed))
}

async function child<T>(project: string, script: string, variants?: readonly Variant[]): Promise<T> {
  const file = join(import.meta.dirname, script)
  if (variants === undefined) {
    await nodeIn(project, [file, project], printKey)
    return undefined as T
  }
  const [list, result] = [join(project, `${script}.list.json`), join(project, `${script}.result.json`)]
  writeFileSync(list, JSON.stringify(variants.map(({ id }) => id)))
  const env = script === 'replay.child.ts' ? environmentOf(project) : printKey
  await nodeIn(project, [file, project, list, result], env)
  return JSON.parse(readFileSync(result, 'utf8')) as T
}
