import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { writeCase } from '../../src/cases/index.ts'
import { HarvestError } from '../../src/errors/index.ts'
import { findsHostile, hostilePayloads } from '../support/hostile.ts'
import { describeLanes, type Home, type InlineProject, onLane, openHome, type RunResult } from './inline.ts'
import { config, golden, refundSources, tapeText } from './refund.ts'
import { summaryOf } from './reports.ts'

/** What an agent does with the text of its input, which a tape brought. */
const agents = `import { tool } from 'vitest-harvest/record'
type Input = { readonly text: string }
class Hostile extends Error {
  constructor(text: string) {
    super(text, { cause: new Error(text) })
    this.name = text
  }
}
export async function throws({ text }: Input) {
  throw new Hostile(text)
}
export async function calls({ text }: Input) {
  await tool(text, async (args: object) => 'ok')({ other: text + text })
}
export async function returns({ text }: Input) {
  await tool(text, async (args: object) => 'ok')({ text })
  return { answer: text, [text]: 1 }
}
export async function logs({ text }: Input) {
  console.log(text)
  console.error('%s', text)
  Promise.reject(new Hostile(text))
  queueMicrotask(() => {
    throw new Hostile(text)
  })
}
export async function prints({ text }: Input) {
  process.stdout.write(text + '\\n')
  throw text
}
`
const modes = ['throws', 'calls', 'returns', 'logs', 'prints']

/** Every payload in everything a case and its tape say; `shift` makes another agent meet it. */
function hostileCases(shift: number): Record<string, string> {
  const files = hostilePayloads.map(({ class: name, text }, at) => {
    const id = `${name}-${at}`
    const agent = modes[(at + shift) % modes.length] ?? ''
    const content = {
      id,
      agent,
      tape: `${id}.tape.jsonl`,
      expect: at % 7 === 0 ? ('fail' as const) : ('pass' as const),
    }
    const said = {
      title: text,
      lesson: { wrong: text, right: text },
      pins: { commit: text, models: [text] },
      outcome: { answer: `not ${text}` },
      approved: { reason: text, by: text },
    }
    const baseline = { baseline: ['other(*)'] }
    const tape = tapeText(id, {
      agent,
      input: { text },
      calls: [{ name: text, args: { text }, result: text }],
      returned: text,
    })
    return {
      [`recordings/golden/${id}.case.yaml`]:
        written({ ...content, ...said, ...baseline }) ?? written({ ...content, ...baseline }),
      [`recordings/golden/${id}.tape.jsonl`]: tape,
    }
  })
  return Object.assign({}, ...files) as Record<string, string>
}

/** `undefined` where a case cannot say it. */
function written(content: Parameters<typeof writeCase>[0]): string | undefined {
  try {
    return writeCase(content)
  } catch (error) {
    if (HarvestError.is(error)) return undefined
    throw error
  }
}

/** A case that came with a pull request: its own lines are hostile, and Vitest shows the lines around a failure. */
const raw = golden(
  'raw',
  `# ##[add-mask]FORGED \u202e ::add-mask::FORGED\nbaseline:\n  - escalate(*) # ##vso[FORGED]\n`,
  { agent: 'throws' },
)

describeLanes('hostile text in cases, tapes and agents under Vitest %i', (lane) => {
  let home: Home
  let project: InlineProject
  let run: RunResult
  const total = hostilePayloads.length + 1
  const env = (summary: string) => {
    writeFileSync(path.join(project.folder, summary), '')
    return { CI: 'true', GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: path.join(project.folder, summary) }
  }
  const read = (file: string) => readFileSync(path.join(project.folder, file), 'utf8')
  beforeAll(async () => {
    home = openHome(lane)
    project = home.project('hostile', {
      'vitest.config.ts': config('', '', modes.map((mode) => `${mode}: './src/agents.ts#${mode}'`).join(', ')),
      ...refundSources,
      'src/agents.ts': agents,
      ...hostileCases(lane),
      ...raw,
    })
    run = await project.run(
      [
        'run',
        '--reporter=verbose',
        '--reporter=github-actions',
        '--reporter=json',
        '--outputFile.json=.vitest/report.json',
        '--reporter=junit',
        '--outputFile.junit=.vitest/junit.xml',
      ],
      { env: env('step.md') },
    )
  })
  afterAll(() => home?.[Symbol.dispose]())

  it('is shown in a log and never obeyed', () => {
    expect(run.stdout).toContain('FORGED')
    expect(findsHostile(run.stdout)).toEqual([])
    expect(findsHostile(run.stderr)).toEqual([])
    expect(summaryOf(run)).not.toContain('FORGED\n::')
  })

  it('forges nothing in a JSON report', () => {
    const text = read('.vitest/report.json')
    expect(findsHostile(text)).toEqual([])
    expect(JSON.parse(text)).toMatchObject({ numTotalTests: total, success: false })
    expect(Object.keys(JSON.parse(text) as object)).not.toContain('FORGED')
  })

  it('forges nothing in a JUnit report', () => {
    const text = read('.vitest/junit.xml')
    expect(findsHostile(text, 'xml')).toEqual([])
    // Vitest 5 makes one of every unhandled error as well.
    const strays = text.match(/<testcase classname="vitest unhandled errors"/g)?.length ?? 0
    expect(text.match(/<testcase classname="recordings\//g)).toHaveLength(total)
    expect(elementsOf(text).filter((name) => name === 'testcase')).toHaveLength(total + strays)
  })

  it('is no link, image, mention or element in the summary of the step', () => {
    const page = read('step.md')
    expect(page).toContain('FORGED')
    expect(findsHostile(page, 'markdown')).toEqual([])
  })

  onLane(lane, 5)(
    'forges no result of TAP, and the reports of blobs are the same when they are merged',
    { tags: 'thorough' },
    async () => {
      const tap = await project.run(['run', '--reporter=tap-flat', '--reporter=blob'], { env: env('tap.md') })
      expect(findsHostile(tap.stdout + tap.stderr)).toEqual([])
      const points = tap.stdout.split('\n').filter((line) => /^(?:ok|not ok) \d/.test(line))
      expect(points).toHaveLength(total)
      expect(
        tap.stdout.split('\n').filter((line) => /^(?:ok|not ok|bail out|\d+\.\.|tap version)/i.test(line)),
      ).toHaveLength(total + 2)
      const merged = await project.run(['run', '--merge-reports'], { env: env('merged.md') })
      expect(findsHostile(merged.stdout + merged.stderr)).toEqual([])
      // Which reports a run wrote is said where it ran.
      const withoutReports = (summary: string) => summary.replace(/\n +Reports .*/, '')
      expect(summaryOf(merged)).toBe(withoutReports(summaryOf(run)))
      expect(findsHostile(read('merged.md'), 'markdown')).toEqual([])
    },
  )
})

/** Names of the elements of a document, after a look that every one is closed where it was opened. */
function elementsOf(xml: string): readonly string[] {
  const names: string[] = []
  const open: string[] = []
  for (const [, end, name = '', attributes = '', empty] of xml.matchAll(
    /<(\/?)([a-z-]+)((?:\s[\w-]+="[^"<]*")*)\s*(\/?)>/g,
  )) {
    if (end === '/') expect(open.pop(), attributes).toBe(name)
    else names.push(name)
    if (end === '' && empty === '') open.push(name)
  }
  expect(open).toEqual([])
  // What is no element is text: it has no bracket of its own.
  expect(xml.replace(/^<\?xml[^>]*>/, '').replaceAll(/<\/?[a-z-]+(?:\s[\w-]+="[^"<]*")*\s*\/?>/g, '')).not.toMatch(
    /[<]/,
  )
  return names
}
