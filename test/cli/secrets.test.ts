import '../support/packed.ts'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { decodeBody } from '../../src/providers/index.ts'
import { replayTape } from '../../src/replay/index.ts'
import { readTape, requestBytes, responseBytes } from '../../src/tape/index.ts'
import { planted, stillIn } from '../privacy/planted.ts'
import { dapMessages, mcpMessages } from '../hostile/debug-messages.ts'
import { built } from '../support/built.ts'
import { agent, places, type Task } from './planted/agent.ts'
import { startPlantedServer } from './planted/server.ts'
import { type Answered, warmHarvest as harvest, warmRun as run } from './harvest.ts'
import { many } from './many.ts'

const repository = resolve(import.meta.dirname, '../..')
/** Places whose tapes go all the way: looked at, promoted, tested. */
const chosen = ['request-form', 'response-events', 'tool-errors', 'thrown-error', 'child-process', 'model-question']

/*
 * One story: every place a run can carry a secret is recorded with two hundred of them, and everything the product
 * does with the tapes is done. Then every byte it left on disk or said is searched.
 */
describe('planted secrets', { tags: 'thorough' }, () => {
  let project = ''
  const said: { readonly command: string; readonly answer: Answered }[] = []
  let server: Awaited<ReturnType<typeof startPlantedServer>>

  beforeAll(async () => {
    // Inside the repository: its node_modules are found from there.
    project = mkdtempSync(join(repository, '.docs-secrets-'))
    mkdirSync(join(project, 'tmp'))
    // Named outside of its import: Vite bundles a file that an import names by its path, all of the plugin in each run.
    writeFileSync(
      join(project, 'vitest.config.mjs'),
      `const plugin = ${JSON.stringify(built('vitest/plugin.js'))}
const { harvest } = await import(plugin)
export default { plugins: [harvest({ agents: { planted: '../test/cli/planted/agent.ts#agent' } })] }
`,
    )
    server = await startPlantedServer()
    const inbox = join(project, 'recordings/inbox')
    said.push({
      command: 'record',
      answer: await run(process.execPath, [join(import.meta.dirname, 'planted/record.child.ts'), inbox]),
    })
  })
  afterAll(() => {
    server.close()
    rmSync(project, { recursive: true, force: true })
  })

  async function say(
    args: readonly string[],
    env: Record<string, string> = {},
    input?: string,
  ): Promise<number | null> {
    const answer = await harvest(args, {
      cwd: project,
      ...(input !== undefined && { input }),
      env: { TMPDIR: join(project, 'tmp'), NO_COLOR: '1', ...env },
    })
    said.push({ command: args.join(' ').slice(0, 60), answer })
    return answer.code
  }
  const lastWords = (): string => `${said.at(-1)?.answer.stdout}${said.at(-1)?.answer.stderr}`

  it('every run that carried them is on a whole tape', () => {
    expect(said[0]?.answer).toMatchObject({ code: 0, stderr: '' })
    const tapes = tapesOf(project)
    expect(tapes.map(({ header }) => header.id).sort()).toEqual(Object.keys(places).sort())
    for (const { close } of tapes) expect(close?.incomplete).toBeUndefined()
  })

  it('every one of them replays byte for byte', async () => {
    const differing: unknown[] = []
    for (const tape of tapesOf(project)) {
      const { problems, drift, comparison } = await replayTape(tape, (task) => agent(task as Task), { strict: true })
      const { served, recorded } = comparison
      if (problems.length > 0 || drift.length > 0 || served !== recorded)
        differing.push({
          tape: tape.header.id,
          problems: problems.map(({ message }) => message),
          drift: drift.slice(0, 3),
          served,
          recorded,
        })
    }
    expect(differing).toEqual([])
  })

  it('a program that is told them on its command line is recorded, and verified but for what has no key to compare', async () => {
    const program = [relative(project, join(import.meta.dirname, 'planted/program.ts')), server.base]
    const flags = planted.filter((_, at) => at % 7 === 0).flatMap(({ name = 'note', value }) => [`--${name}`, value])
    // Its own output belongs to the one who started it.
    const recorded = await harvest(['record', '--id', 'program', '--', 'node', ...program, ...flags], { cwd: project })
    expect(recorded.code).toBe(0)
    expect(await say(['verify', 'program', '--run-recorded'])).toBe(1)
    expect(lastWords()).toContain('not compared')
  })

  it('their tapes are shown, promoted, checked and tested, green and red', async () => {
    const looks = [
      ['ls'],
      ['ls', '--json'],
      ...chosen.flatMap((place) => [
        ['show', place],
        ['show', place, '--json'],
      ]),
    ]
    const looked = many(looks, project, { TMPDIR: join(project, 'tmp') })
    expect(looked.map(({ code }) => code)).toEqual(looks.map(() => 0))
    said.push(...looks.map((args, at) => ({ command: args.join(' '), answer: looked[at]! })))
    for (const place of chosen)
      expect({ code: await say(['promote', place, '--as', place]), said: lastWords() }).toMatchObject({ code: 0 })
    expect(await Promise.all([say(['check']), say(['check', '--json'])])).toEqual([0, 0])
    const reporters = ['default', 'json', 'junit', 'github-actions'].map((name) => `--reporter=${name}`)
    const files = (name: string): string[] =>
      ['json', 'junit'].map((kind) => `--outputFile.${kind}=reports/${name}.${kind}`)
    expect(await say(['test', ...reporters, ...files('green')]), lastWords()).toBe(0)
    // Another agent: every question, argument and answer is then told as expected and found.
    const red = {
      PLANTED_BROKEN: '1',
      GITHUB_ACTIONS: 'true',
      GITHUB_STEP_SUMMARY: join(project, 'reports/summary.md'),
    }
    writeFileSync(red.GITHUB_STEP_SUMMARY, '')
    expect(await say(['test', ...reporters, ...files('red')], red)).toBe(1)
    expect(await say(['replay', 'request-json', '--agent', '../test/cli/planted/agent.ts#agent'], red)).toBe(1)
  })

  it('their tapes are reported, exported, compared and debugged, also by who asks over MCP and DAP', {
    timeout: 600_000,
  }, async () => {
    const [place, other] = ['child-process', 'model-question'] as const
    const looks = [
      ['report', place, '-o', 'reports/one.html'],
      ['report', place, '--json'],
      ['report', place, '--against', other, '-o', 'reports/two.html'],
      ...['har', 'otlp', 'json'].map((format) => ['export', place, '--format', format]),
      ['diff', place, other, '--full'],
      ['debug', place, '-x', 'steps; inspect; inspect raw; timeline; next; inspect; print args; print result'],
      ['debug', other, '--json', '-x', 'steps; inspect; next; inspect'],
      ['locate', place, 'redacted-secret-1'],
    ]
    const all = [...looks, ['report', '--golden', '-o', 'reports/golden.html'], ['pins'], ['check', '--health']]
    const answers = many(all, project, { TMPDIR: join(project, 'tmp') })
    said.push(...all.map((args, at) => ({ command: args.join(' '), answer: answers[at]! })))
    expect(answers.filter(({ code }) => code === 101)).toEqual([])
    const tape = `recordings/inbox/${place}.tape.jsonl`
    expect(await say(['debug', '--mcp'], {}, mcpMessages(tape))).toBe(0)
    expect(lastWords()).toContain('"result"')
    expect(await say(['debug', '--dap'], {}, dapMessages(tape))).toBe(0)
    expect(lastWords()).toContain('"type":"response"')
  })

  it('a question with secrets in it is proven, accepted and fixed', async () => {
    const red = { PLANTED_BROKEN: '1', HARVEST_ALLOW_CI_UPDATE: '1' }
    expect(await say(['test', 'model-question', '--prove', '--yes', '--max-calls', '40'], red)).not.toBe(101)
    expect(await say(['accept', 'model-question', '--reason', 'it is fair'], red)).toBe(0)
    expect(readFileSync(join(project, 'recordings/golden/model-question.case.yaml'), 'utf8')).toContain('accepted:')
    expect(await say(['fix', 'model-question', '--ok', 'done', '--json'], red)).not.toBe(101)
  })

  it('none of them is in any file, or in anything that was said', () => {
    expect(said.length).toBeGreaterThan(20)
    const left = new Map<string, readonly string[]>()
    const look = (place: string, text: string): void => {
      const found = stillIn(text)
      if (found.length > 0) left.set(place, [...new Set(found.map(({ class: name }) => name))])
    }
    for (const { command, answer } of said) look(`said by ${command}`, answer.stdout + answer.stderr)
    const files = filesBelow(project)
    for (const file of files) look(relative(project, file), readFileSync(file, 'utf8') + unpacked(file))
    expect(files.length).toBeGreaterThan(40)
    expect(Object.fromEntries(left)).toEqual({})
  })
})

function tapesOf(project: string): ReturnType<typeof readTape>[] {
  const inbox = join(project, 'recordings/inbox')
  return readdirSync(inbox)
    .filter((name) => name.endsWith('.tape.jsonl'))
    .map((name) => readTape(join(inbox, name)))
}

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}

/** What a tape says once it is unpacked: compressed bodies, and bytes in base64. */
function unpacked(file: string): string {
  if (!file.endsWith('.tape.jsonl')) return ''
  const bodies = readTape(file).events.flatMap((event) => {
    if (event.kind !== 'exchange') return []
    const encoding = event.response?.headers.find(([name]) => name === 'content-encoding')?.[1]
    return [requestBytes(event), decodeBody(responseBytes(event), encoding)]
  })
  const inBase64 = [...readFileSync(file, 'utf8').matchAll(/"base64":"([^"]+)"/g)].map(([, text = '']) =>
    Buffer.from(text, 'base64'),
  )
  return [...bodies, ...inBase64].map((bytes) => Buffer.from(bytes).toString('utf8')).join('\n')
}
