import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseDocument } from 'yaml'
import { subjects } from '../agents/index.ts'
import type { Variant } from '../project.ts'
import { nodeIn, type Verdict, type Verdicts, vitestIn } from './run.ts'

type Settings = Readonly<Record<string, unknown>>

/** What stands in a case beside what `harvest promote` wrote. */
const strictly: Settings = { match: { trace: 'strict', args: 'exact' }, serve: 'canonical', drift: 'fail' }

/**
 * Records each agent once, promotes the tape as the README does, and lets one Vitest replay every variant from that
 * case: the case is copied under the variant's name, and nothing else about it is changed but the settings of a column.
 */
export async function ours(
  project: string,
  variants: readonly Variant[],
): Promise<{ readonly verdicts: Verdicts; readonly keys: Keys }> {
  const golden = join(project, 'recordings/golden')
  writeFileSync(join(project, 'vitest.config.ts'), configFor(variants))
  await nodeIn(project, ['bench/catch/record.child.ts', project])
  const env = { GATEWAY: readFileSync(join(project, 'gateway'), 'utf8') }
  for (const { name } of subjects) {
    const promote = ['node_modules/vitest-harvest/dist/cli/main.js', 'promote', name, '--as', name]
    await nodeIn(project, promote, env)
    copyCase(golden, name, { id: `strict-${name}`, agent: `${name}-00` }, { ...strictly, baseline: undefined })
  }
  // A baseline that is compared strictly is written so.
  await vitestIn(project, 'vitest.config.ts', { ...env, CI: '', VITEST_HARVEST_UPDATE: 'new' })
  for (const { id, agent } of variants) {
    copyCase(golden, agent, { id: `default-${id}`, agent: id }, {})
    copyCase(golden, `strict-${agent}`, { id: `strict-${id}`, agent: id }, {})
  }
  for (const { name } of subjects) {
    for (const id of [name, `strict-${name}`])
      for (const end of ['case.yaml', 'tape.jsonl']) rmSync(join(golden, `${id}.${end}`))
  }
  rmSync(join(project, 'recordings/inbox'), { recursive: true })
  const tests = await vitestIn(project, 'vitest.config.ts', env)
  const verdicts = new Map([
    ['ours', new Map()],
    ['ours, strict', new Map()],
  ]) satisfies Verdicts
  for (const { file, isRed, verdict, message } of tests) {
    const [, settings, id = ''] = /(default|strict)-(\w+-\d+)\.case\.yaml$/.exec(file) ?? []
    verdicts.get(settings === 'default' ? 'ours' : 'ours, strict')?.set(id, { isRed, verdict, message })
  }
  return { verdicts, keys: await keysIn(project, variants, verdicts.get('ours')!, env) }
}

/** Of each unproven variant, how many changed questions its case names: what a person has to look at. */
export type Keys = ReadonlyMap<string, number>

async function keysIn(
  project: string,
  variants: readonly Variant[],
  verdicts: ReadonlyMap<string, Verdict>,
  env: Readonly<Record<string, string>>,
): Promise<Keys> {
  const unproven = variants.filter(({ id }) => verdicts.get(id)?.verdict === 'unproven')
  const [list, result] = [join(project, 'unproven.json'), join(project, 'keys.json')]
  const wanted = unproven.map(({ id, file }) => ({
    id,
    file: join(project, file),
    case: join(project, `recordings/golden/default-${id}.case.yaml`),
  }))
  writeFileSync(list, JSON.stringify(wanted))
  await nodeIn(project, [join(import.meta.dirname, '../keys.child.ts'), project, list, result], env)
  return new Map(Object.entries(JSON.parse(readFileSync(result, 'utf8')) as Record<string, number>))
}

/** Writes a case and its tape once more, for another agent. */
export function copyCase(
  golden: string,
  from: string,
  { id, agent }: { id: string; agent: string },
  settings: Settings,
): void {
  const text = parseDocument(readFileSync(join(golden, `${from}.case.yaml`), 'utf8'))
  for (const [key, value] of Object.entries({ case: id, agent, tape: `${id}.tape.jsonl`, ...settings })) {
    if (value === undefined) text.delete(key)
    else text.set(key, text.createNode(value))
  }
  mkdirSync(golden, { recursive: true })
  writeFileSync(join(golden, `${id}.case.yaml`), String(text))
  copyFileSync(join(golden, `${from}.tape.jsonl`), join(golden, `${id}.tape.jsonl`))
}

function configFor(variants: readonly Variant[]): string {
  const agents = Object.fromEntries(variants.map(({ id, file }) => [id, `./${file}#agent`]))
  return `import { defineConfig } from 'vitest/config'
import { harvest } from 'vitest-harvest/plugin'

export default defineConfig({
  plugins: [harvest({ agents: ${JSON.stringify(agents)} })],
  test: { include: ['src/**/*.test.ts'] },
})
`
}
