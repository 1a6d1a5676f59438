import { mkdirSync, readFileSync, rmSync, writeFileSync, copyFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { subjects } from '../agents/index.ts'
import type { Variant } from '../project.ts'
import { nodeIn, type Verdicts, vitestIn } from './run.ts'

/** What stands in a case of each column beside what `harvest promote` wrote. */
const settings = {
  ours: '',
  'ours, strict': 'match: { trace: strict, args: exact }\nserve: canonical\ndrift: fail\n',
}

/**
 * Records each agent once, promotes the tape as the README does, and lets one Vitest replay every variant from that
 * case: the case is copied under the variant's name, and nothing else about it is changed but the settings of a column.
 */
export async function ours(project: string, variants: readonly Variant[]): Promise<Verdicts> {
  writeFileSync(join(project, 'vitest.config.ts'), configFor(variants))
  await nodeIn(project, ['bench/catch/record.child.ts', project])
  const env = { GATEWAY: readFileSync(join(project, 'gateway'), 'utf8') }
  for (const { name } of subjects)
    await nodeIn(project, ['node_modules/vitest-harvest/dist/cli/main.js', 'promote', name, '--as', name], env)
  const golden = join(project, 'recordings/golden')
  for (const [column, more] of Object.entries(settings)) {
    const folder = join(golden, column === 'ours' ? 'default' : 'strict')
    mkdirSync(folder, { recursive: true })
    for (const { id, agent } of variants) {
      const text = readFileSync(join(golden, `${agent}.case.yaml`), 'utf8')
      const name = `${basename(folder)}-${id}`
      writeFileSync(join(folder, `${name}.case.yaml`), `${renamed(text, name, id)}${more}`)
      copyFileSync(join(golden, `${agent}.tape.jsonl`), join(folder, `${name}.tape.jsonl`))
    }
  }
  for (const { name } of subjects) for (const end of ['case.yaml', 'tape.jsonl']) rmSync(join(golden, `${name}.${end}`))
  rmSync(join(project, 'recordings/inbox'), { recursive: true })
  const tests = await vitestIn(project, 'vitest.config.ts', env)
  const verdicts: Verdicts = new Map([...Object.keys(settings)].map((column) => [column, new Map()]))
  for (const { file, isRed, message } of tests) {
    const [, folder, id = ''] = /(default|strict)-(\w+-\d+)\.case\.yaml$/.exec(file) ?? []
    verdicts.get(folder === 'default' ? 'ours' : 'ours, strict')?.set(id, { isRed, message })
  }
  return verdicts
}

function renamed(text: string, name: string, agent: string): string {
  return text
    .replace(/^case: .*$/m, `case: ${name}`)
    .replace(/^agent: .*$/m, `agent: ${agent}`)
    .replace(/^tape: .*$/m, `tape: ${name}.tape.jsonl`)
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
