import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { recordedProgram } from '../../src/cli/recorded-program.ts'
import { shownCommand } from '../../src/report/shown-command.ts'
import { HarvestError } from '../../src/errors/index.ts'
import { addProgram, programNamed, readPrograms } from '../../src/recordings/index.ts'
import { programsIssue } from '../../src/recordings/programs.ts'
import { parseTape, type TapeHeader } from '../../src/tape/index.ts'
import { tapeText } from '../recordings/make.ts'

const before = process.cwd()
let folder = ''
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'harvest-recorded-')))
  mkdirSync(join(folder, 'project/.git'), { recursive: true })
  mkdirSync(join(folder, 'project/packages'))
  mkdirSync(join(folder, 'elsewhere'))
  symlinkSync(join(folder, 'elsewhere'), join(folder, 'project/linked'))
  process.chdir(join(folder, 'project'))
})
afterAll(() => {
  process.chdir(before)
  rmSync(folder, { recursive: true, force: true })
})

const list = (harvest: unknown): void => writeFileSync('package.json', JSON.stringify({ harvest }))

/** What would run of a tape that names this command, or the code of the refusal; and what was said. */
async function asked(argv: readonly string[], { cwd = '.', isGiven = false } = {}): Promise<unknown> {
  const command: NonNullable<TapeHeader['command']> = { argv, cwd }
  const tape = parseTape(tapeText({ header: { command } }), 'recordings/inbox/x.tape.jsonl')
  const said: string[] = []
  const screen = { note: (text: string) => void said.push(text) } as never
  try {
    const program = await recordedProgram(tape, command, { isGiven, typed: 'harvest replay x', screen })
    return { ...program, said }
  } catch (error) {
    if (HarvestError.is(error)) return error.message
    throw error
  }
}

const refusal = expect.stringContaining('(HARVEST_CLI_COMMAND_UNTRUSTED)') as unknown

describe('the command of a tape', () => {
  it('that the project does not list is refused, whole and harmless, with the lines to paste', async () => {
    list({})
    const long = 'x'.repeat(3_000)
    const message = String(await asked(['sh', '-c', `clear\u001b[2J\nrm 'a' \\x1b\u202e`, '', '::error::x', long]))
    expect(message).toContain(long)
    expect(message.replaceAll(long, '<long>').replaceAll(folder, '<root>')).toMatchInlineSnapshot(`
      "Refused to run the command line stored in the tape

        command  sh -c 'clear\\x1b[2J\\x0arm \\'a\\' \\\\x1b\\u202e' '' '\\x3a:error::x' <long>
        folder   .
        tape     recordings/inbox/x.tape.jsonl

      A tape is data and may come from elsewhere. The project does not list this command, and there is no terminal to ask at.
      → if you trust it, once: harvest replay x --run-recorded
      → permanently, in package.json: "harvest": { "programs": { "sh": ["sh","-c","clear\\u001b[2J\\nrm 'a' \\\\x1b\\u202e","","::error::x","<long>"] } }
      → or type the command to run: harvest replay x -- node agent.js
      (HARVEST_CLI_COMMAND_UNTRUSTED)"
    `)
  })

  it.each([
    ['a script in the project', ['node', 'src/refund.ts']],
    ['a tool of node_modules', ['node', 'node_modules/vite/bin/vite.js', 'build', '--outDir', '..', '--emptyOutDir']],
    ['a reporter that is code', ['node', 'node_modules/vitest/vitest.mjs', 'run', '--reporter=data:text/javascript,0']],
    ['a shell', ['sh', '-c', 'touch x']],
    ['code on the command line', ['node', '-e', 'process.exit(9)']],
    ['a script named -e', ['node', '-e']],
    ['a preloaded module', ['node', '--import', 'data:text/javascript,0', 'src/refund.ts']],
    ['nothing', []],
    ['no name', ['']],
  ])('%s is not run unasked', async (_, argv) => {
    list({ programs: { other: ['node', 'src/other.ts'] } })
    expect(await asked(argv)).toEqual(refusal)
  })

  it.each([
    [['node', 'src/refund.ts']],
    [['node', './src/refund.ts', 'A1']],
    [['node', 'src/../src/refund.ts', 'A1']],
    [['node', 'src/refund.ts', 'A1', '']],
    [['node', 'src/refund.ts', 'A1 ']],
    [['node', 'src/refund.ts', 'A1\n']],
    [['NODE', 'src/refund.ts', 'A1']],
    [[process.execPath, 'src/refund.ts', 'A1']],
    [['node', 'src/refund.ts A1']],
    [['A1', 'src/refund.ts', 'node']],
  ])('is compared word for word: %j is another one', async (argv) => {
    list({ programs: { refund: ['node', 'src/refund.ts', 'A1'] } })
    expect(await asked(argv)).toEqual(refusal)
    const listed = ['node', 'src/refund.ts', 'A1']
    expect(await asked(listed)).toEqual({ argv: listed, cwd: process.cwd(), said: [] })
  })

  it('a last * admits plain words, and no option', () => {
    const named = (...more: readonly string[]) =>
      programNamed({ refund: ['node', 'src/refund.ts', '*'] }, ['node', 'src/refund.ts', ...more])
    expect([named(), named('A1'), named('a b', 'x@y.z', '1:2', './p+q,r'), named('')]).not.toContain(undefined)
    for (const word of ['-e', '--import=x', 'a\nb', 'a;b', '$(x)', '`x`', '*', 'a|b', "'", 'é', '\u202e', 'a=b', '\0'])
      expect(named('A1', word), word).toBe(undefined)
    expect(programNamed({ refund: ['node', 'src/refund.ts', '*'] }, ['node'])).toBe(undefined)
  })

  it('runs in the current folder, never in the one of the tape', async () => {
    list({ programs: { refund: ['node', 'src/refund.ts'] } })
    expect(await asked(['node', 'src/refund.ts'], { cwd: 'packages' })).toMatchObject({ cwd: process.cwd() })
  })

  it.each(['..', '../elsewhere', 'linked', '/', 'packages/../../elsewhere', 'nowhere', 'package.json/x', 'a\0b'])(
    'with the folder %j is refused, whoever said yes',
    async (cwd) => {
      list({ programs: { refund: ['node', 'src/refund.ts'] } })
      for (const isGiven of [false, true]) {
        const message = await asked(['node', 'src/refund.ts'], { cwd, isGiven })
        expect(message).toEqual(refusal)
        expect(message).toContain('not a folder of this project')
      }
    },
  )

  it('of a package.json or config among recordings counts for nothing', async () => {
    const argv = ['sh', '-c', 'touch canary']
    const programs = { x: argv }
    list({})
    for (const [recordings, below] of [
      ['recordings', 'recordings/inbox'],
      ['recordings', 'recordings/any'],
      ['kept', 'kept/golden/group'],
      ['kept', 'kept'],
    ] as const) {
      const made = join(folder, 'project', recordings)
      mkdirSync(join(made, 'golden/group'), { recursive: true })
      mkdirSync(join(folder, 'project', below), { recursive: true })
      writeFileSync(join(made, 'golden/group/x.tape.jsonl'), '')
      for (const at of [recordings, below]) {
        writeFileSync(join(folder, 'project', at, 'package.json'), JSON.stringify({ harvest: { programs } }))
        writeFileSync(join(folder, 'project', at, 'vitest.config.mjs'), 'throw new Error("loaded")')
      }
      process.chdir(below)
      try {
        const answer = await asked(argv)
        expect([below, answer]).toEqual([below, refusal])
        expect(String(answer)).not.toContain('loaded')
      } finally {
        process.chdir(join(folder, 'project'))
      }
      rmSync(made, { recursive: true })
    }
    // A folder of the project that is no recordings is what it was.
    mkdirSync('packages/mail/inbox', { recursive: true })
    writeFileSync('packages/mail/package.json', JSON.stringify({ harvest: { programs } }))
    process.chdir('packages/mail')
    try {
      expect(await asked(argv)).toMatchObject({ argv })
    } finally {
      process.chdir(join(folder, 'project'))
      rmSync('packages/mail', { recursive: true })
    }
  })

  it('--run-recorded runs it, and says what it runs', async () => {
    list({})
    expect(await asked(['sh', '-c', 'echo \u001b[2J'], { isGiven: true })).toEqual({
      argv: ['sh', '-c', 'echo \u001b[2J'],
      cwd: process.cwd(),
      said: ["harvest: runs the recorded command sh -c 'echo \\x1b[2J'"],
    })
  })
})

describe('a command as it is shown', () => {
  it('tells words and what cannot be seen apart', () => {
    const shown = [
      ['a b'],
      ['a', 'b'],
      ["a' 'b"],
      ['a\\x1b'],
      ['a\u001b'],
      ['a\n'],
      ['a\\n'],
      [''],
      ['a\u200bb'],
      ['ab'],
    ].map((argv) => shownCommand(argv))
    expect(new Set(shown).size).toBe(shown.length)
    expect(shown).toMatchInlineSnapshot(`
      [
        "'a b'",
        "a b",
        "'a\\' \\'b'",
        "'a\\\\x1b'",
        "'a\\x1b'",
        "'a\\x0a'",
        "'a\\\\n'",
        "''",
        "'a\\u200bb'",
        "ab",
      ]
    `)
  })
})

describe('harvest.programs of package.json', () => {
  it.each([
    [[]],
    ['node x'],
    [{ a: 'node x' }],
    [{ a: [] }],
    [{ a: [''] }],
    [{ a: ['node', 1] }],
    [{ a: ['*'] }],
    [{ a: ['node', '*'] }],
    [{ a: ['node', '--import', '*'] }],
    [{ a: ['node', '*', 'x'] }],
    [{ a: ['node', 'x', '*', '*'] }],
  ])('%j is refused', (programs) => {
    expect(programsIssue(programs)).toBeDefined()
    list({ programs })
    expect(() => readPrograms('.')).toThrow(/HARVEST_OPTION/)
  })

  it('that is no JSON is refused, and the nearest file counts', () => {
    writeFileSync('package.json', '{')
    expect(() => readPrograms('.')).toThrow(/HARVEST_OPTION/)
    list({ programs: { a: ['node', 'x'] } })
    expect(readPrograms('packages')).toEqual({ a: ['node', 'x'] })
  })

  it('gets a program in the indentation it has, under a name that is free', () => {
    writeFileSync('package.json', '{\n\t"name": "x",\n\t"harvest": { "programs": { "refund": ["node", "y"] } }\n}\n')
    expect(addProgram('package.json', 'refund', ['node', 'x.ts'])).toBe('refund-2')
    expect(addProgram('package.json', '__proto__', ['node', 'z.ts'])).toBe('__proto__')
    expect(readPrograms('.')).toMatchObject({ refund: ['node', 'y'], 'refund-2': ['node', 'x.ts'] })
    expect(readFileSync('package.json', 'utf8')).toMatch(
      /^\{\n\t"name": "x",\n\t"harvest": \{\n\t\t"programs"[^]*\}\n$/,
    )
  })
})
