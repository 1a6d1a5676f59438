import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { copyCase } from '../catch/columns/ours.ts'
import { type TestResult, vitestIn } from '../catch/columns/run.ts'
import type { Variant } from './project.ts'
import { environmentOf, writeConfig } from './steps.ts'
import type { Verdict } from './verdict-of.ts'

/** A case for each variant: that of its agent, with the variant in the agent's place. */
export function writeCases(project: string, variants: readonly Variant[]): Disposable {
  const golden = join(project, 'recordings/golden')
  writeConfig(project, [...new Set(variants.flatMap(({ id, agent }) => [id, `${agent}-000`]))])
  for (const { id, agent } of variants) copyCase(golden, agent, { id, agent: id }, {})
  return {
    [Symbol.dispose]() {
      for (const { id } of variants) for (const end of ['case.yaml', 'tape.jsonl']) rmSync(join(golden, `${id}.${end}`))
    },
  }
}

/** A test written by hand for each variant, which replays the tape of its agent and asserts nothing else. */
export function writeTests(project: string, variants: readonly Variant[]): Disposable {
  const file = join(project, 'src/by-hand.test.ts')
  const tests = variants.map(
    ({ id, agent, file: source }) => `test('${id}', async () => {
  vi.resetModules()
  await replay('recordings/golden/${agent}.tape.jsonl', async (input) => {
    const { agent } = await import('../${source}')
    return agent(input)
  })
})
`,
  )
  writeFileSync(
    file,
    `import { test, vi } from 'vitest'\nimport { replay } from 'vitest-harvest/vitest'\n\n${tests.join('\n')}`,
  )
  return { [Symbol.dispose]: () => rmSync(file) }
}

/** What one `vitest run` says of each variant, by case and by hand. */
export async function verdictsInVitest(project: string): Promise<{
  readonly byCase: ReadonlyMap<string, Verdict>
  readonly byHand: ReadonlyMap<string, Verdict>
}> {
  const tests = await vitestIn(project, 'vitest.config.ts', environmentOf(project))
  const isCase = ({ file }: TestResult) => file.endsWith('.case.yaml')
  return {
    byCase: new Map(tests.filter(isCase).map((each) => [/([^/]+)\.case\.yaml$/.exec(each.file)![1]!, each.verdict])),
    byHand: new Map(tests.filter((each) => !isCase(each)).map((each) => [each.name, each.verdict])),
  }
}
