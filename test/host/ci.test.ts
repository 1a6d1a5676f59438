import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeLanes, type Home, type InlineProject, onLane, openHome, type RunResult } from './inline.ts'
import { config, golden, refundBaseline, refundSources } from './refund.ts'
import { summaryOf } from './reports.ts'

const outdated = `baseline:
  - lookup_order(order_id)
  - escalate(order_id)
`
/** Thirteen red cases, which is more than GitHub annotates, and a few green ones. */
const cases = {
  ...golden('holds', refundBaseline),
  ...golden('known-bad', `expect: fail\n${refundBaseline}`),
  ...golden('fixed', `expect: fail\n${outdated}`),
  ...golden('unwritten', ''),
  ...golden('tampered', refundBaseline, { isTruncated: true }),
  ...Object.assign(
    {},
    ...Array.from({ length: 10 }, (_, at) => golden(`asks-else-${at}`, refundBaseline, { agent: 'asks-else' })),
  ),
}

describeLanes('a pipeline with Vitest %i', (lane) => {
  let home: Home
  let project: InlineProject
  let one: RunResult
  let page = ''
  const github = (summary: string) => {
    writeFileSync(path.join(project.folder, summary), '# Before')
    return { CI: 'true', GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: path.join(project.folder, summary) }
  }
  const read = (file: string) => readFileSync(path.join(project.folder, file), 'utf8')
  const commands = (text: string, level: string) => text.split('\n').filter((line) => line.startsWith(`::${level} `))

  beforeAll(async () => {
    home = openHome(lane)
    project = home.project('pipeline', {
      'vitest.config.ts': config('', '', `'asks-else': './src/asks-else.ts'`),
      ...refundSources,
      'src/asks-else.ts': `import { tool } from 'vitest-harvest/record'
const lookupOrder = tool('lookup_order', async (order: { order_id: string }) => ({ amount: 25 }))
export default () => {
  process.stdout.write('{ "forged": [')
  return lookupOrder({ order_id: 'B-2' })
}
`,
      ...cases,
    })
    one = await project.run(['run'], { env: github('one.md') })
    page = read('one.md')
  })
  afterAll(() => home?.[Symbol.dispose]())

  it('reads in ten seconds what came of the cases', () => {
    expect(one.code).toBe(1)
    expect(
      summaryOf(one),
    ).toBe(` Recordings  1 replayed, 1 known bad reproduced, 11 diverged, 1 no longer reproduced, 1 failed
    Escapes  0
        Red  golden/asks-else-0  The agent called lookup_order with arguments that are not on the tape
               src/asks-else.ts:5:10
${Array.from(
  { length: 8 },
  (
    _,
    at,
  ) => `             golden/asks-else-${at + 1}  The agent called lookup_order with arguments that are not on the tape
               src/asks-else.ts:5:10
`,
).join('')}             and 4 more`)
  })

  it('finds every red case annotated once, at the line of the agent where there is one', () => {
    const lines = commands(one.stdout + one.stderr, 'error').map((line) =>
      /file=[^,]*\/([\w.-]+),.*?line=(\d+).*golden\/([\w-]+)\.case\.yaml/.exec(line)?.slice(1).join(':'),
    )
    const atAgent = Array.from({ length: 10 }, (_, at) => `asks-else.ts:5:asks-else-${at}`)
    const atCase = [['fixed', 4] as const, ['tampered', 3] as const, ['unwritten', 1] as const]
    expect(lines.sort()).toEqual(
      [...atAgent, ...atCase.map(([name, line]) => `${name}.case.yaml:${line}:${name}`)].sort(),
    )
    expect(commands(one.stderr, 'warning')).toEqual([
      '::warning title=Recordings::and 4 more red cases: the step summary names them',
    ])
  })

  it('finds every red case in the summary of the step, below what is there', () => {
    expect(page).toMatch(/^# Before\n?[^]*\n## Recordings\n/)
    const own = page.slice(page.indexOf('\n## Recordings'))
    expect(own.slice(0, own.indexOf('### `golden/asks-else-1`'))).toMatchInlineSnapshot(`
      "
      ## Recordings

      \`\`\`
      Recordings  1 replayed, 1 known bad reproduced, 11 diverged, 1 no longer reproduced, 1 failed
      Escapes     0
      \`\`\`

      ### \`golden/asks-else-0\`

      \`recordings/golden/asks-else-0.case.yaml:2:1\`, \`src/asks-else.ts:5:10\`

      report: \`.harvest/report/golden/asks-else-0.html\`

      \`\`\`
      The agent called lookup_order with arguments that are not on the tape

        tape      asks-else-0
        step      1 of this replay (2 recorded)
        at        src/asks-else.ts:5:10
        after     the start of the run
        recorded  step 1, tool lookup_order

        differs at order_id
        recorded  A-1
        now       B-2

      The model's decision is recorded, so the agent's code changed the arguments.
      → to see the recorded steps: npx vitest-harvest show asks-else-0
      → if the new behaviour is right: record the run again and promote the new tape
      (HARVEST_DIVERGENCE)
      \`\`\`

      "
    `)
    expect(own.match(/^### .*/gm)).toHaveLength(13)
  })

  it('is told the same by the merged reports of three shards, which stay silent themselves', {
    tags: 'thorough',
  }, async () => {
    const env = github('shards.md')
    const shards = [1, 2, 3].map((part) => project.run(['run', `--shard=${part}/3`, '--reporter=blob'], { env }))
    for (const { stderr, code } of await Promise.all(shards)) expect([code, stderr]).toEqual([1, ''])
    expect(read('shards.md')).toBe('# Before')
    const merged = await project.run(['run', '--merge-reports'], { env: github('merged.md') })
    expect(summaryOf(merged)).toBe(summaryOf(one))
    expect(commands(merged.stderr, 'warning')).toEqual(commands(one.stderr, 'warning'))
    const recordings = (text: string) => text.slice(text.indexOf('\n## Recordings'))
    expect(recordings(read('merged.md'))).toBe(recordings(page))
    expect(merged.code).toBe(1)
  })

  onLane(lane, 5)(
    'annotates by itself where the reporter of Vitest was left out, nine cases and how many more',
    { tags: 'thorough' },
    async () => {
      const { stdout, stderr } = await project.run(['run', '--reporter=dot'], { env: github('dot.md') })
      expect(commands(stdout, 'error')).toEqual([])
      const errors = commands(stderr, 'error')
      expect(errors).toHaveLength(10)
      expect(errors[0]).toMatch(
        /^::error file=[^,]*src\/asks-else\.ts,line=5,col=10,title=golden\/asks-else-0::The agent/,
      )
      expect(errors.at(-1)).toBe('::error title=Recordings::and 4 more red cases: the step summary names them')
    },
  )

  it('reads stdout of a reporter for machines as it is, whatever agents print', { tags: 'thorough' }, async () => {
    const env = github('machines.md')
    const [json, junit, tap] = await Promise.all(
      ['json', 'junit', 'tap'].map((name) =>
        project.run(['run', 'golden/holds', 'golden/asks-else-1', `--reporter=${name}`], { env }),
      ),
    )
    const report = (name: string, result: RunResult | undefined, file: string) => {
      // Vitest 5 writes a file unless it is told otherwise, Vitest 4 to stdout.
      const isFile = /report written to/.test(result?.stdout ?? '')
      return isFile ? project.read(`.vitest/${name}/${file}`) : (result?.stdout ?? '')
    }
    expect(JSON.parse(report('json', json, 'output.json'))).toMatchObject({ numPassedTests: 1, numFailedTests: 1 })
    expect(report('junit', junit, 'output.xml')).toMatch(/^<\?xml version="1.0"[^]*<\/testsuites>\n$/)
    expect(tap?.stdout).toMatch(/^TAP version 13\n1\.\.2\n/)
    for (const result of [json, junit, tap]) expect(result?.stdout).not.toMatch(/^(?:::|\s*Recordings)/m)
  })

  onLane(lane, 5)('writes no update when reports are merged', async () => {
    const update = { VITEST_HARVEST_UPDATE: 'new' }
    await project.run(['run', 'golden/unwritten', '--reporter=blob'], { env: update })
    expect(project.read('recordings/golden/unwritten.case.yaml')).toContain('baseline')
    for (const [file, text] of Object.entries(cases)) project.write(file, text as string)
    const before = project.hash()
    const merged = await project.run(['run', '--merge-reports'], { env: update })
    expect([merged.output.includes('Updated'), project.hash()]).toEqual([false, before])
  })
  onLane(lane, 5)(
    'is answered by harvest test as by Vitest, and with 2 where it was called wrongly',
    { tags: 'thorough' },
    async () => {
      const harvest = (...args: string[]) => project.run(['test', ...args], { bin: 'harvest' })
      const results = await Promise.all([
        harvest('golden/holds'),
        harvest('golden/fixed'),
        harvest('--update-recordings'),
      ])
      expect(results.map(({ code }) => code)).toEqual([0, 1, 2])
    },
  )
})
