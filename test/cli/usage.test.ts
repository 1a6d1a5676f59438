import { parse } from '../../src/cli/parse.ts'
import { specs } from '../../src/cli/spec/index.ts'
import { HarvestError } from '../../src/errors/index.ts'
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { overview, reference } from '../../scripts/cli-reference.ts'
import { harvest } from './harvest.ts'
import { many } from './many.ts'

describe('a command line that is wrong', () => {
  it('a mistyped command is refused, with the one that was meant', async () => {
    const { code, stdout, stderr } = await harvest(['recrd', '--', 'node', 'agent.js'])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain("Unknown command 'recrd'")
    expect(stderr).toContain('→ did you mean: npx vitest-harvest record')
  })

  it.each([
    [['patch', 'k', '--step', '1', '--say', 'y'], 'fork'],
    [['patch', 'k', '--step', '1', '--set', 'result.a=1'], 'patch'],
    [['patch', 'k', '--critical', '--live'], 'fork'],
  ])('an earlier name takes the options of the command of today: %j', (argv, name) => {
    const parsed = parse(argv, specs)
    expect(parsed.kind === 'run' && { name: parsed.spec.name, args: parsed.given.args }).toEqual({ name, args: ['k'] })
    expect(parsed).toMatchObject({ hints: [expect.stringContaining(`hint: ${argv[0]} is now npx vitest-harvest`)] })
  })

  const issues: readonly (readonly [name: string, args: readonly string[], message: string])[] = [
    [
      'a mistyped option',
      ['record', '--dirr', 'x', '--', 'node', 'a.js'],
      '→ did you mean: npx vitest-harvest record --dir x -- node a.js',
    ],
    [
      'the beginning of an option',
      ['blame', 'bad', '--dry', '--ok', 'a=1'],
      '→ did you mean: npx vitest-harvest blame bad --dry-run --ok a=1',
    ],
    ['an option of another command', ['show', '--allow', 'x', 'y'], "Unknown option '--allow' of show"],
    ['a negated option', ['show', '--no-json', 'x'], "Unknown option '--no-json' of show"],
    ['a dotted option', ['show', '--json.x', 'y'], "Unknown option '--json.x' of show"],
    ['an option that is a trap', ['show', '--__proto__=1', 'x'], "Unknown option '--__proto__' of show"],
    ['an unknown letter', ['show', '-j', 'x'], "Unknown option '-j' of show"],
    ['an option without its value', ['record', '--dir', '--', 'node', 'a.js'], '--dir needs a value: --dir <folder>'],
    ['an option twice', ['record', '--id', 'a', '--id', 'b', '--', 'node', 'a.js'], '--id was given more than once'],
    ['a value where none belongs', ['show', '--json=1', 'x'], '--json takes no value'],
    ['a missing argument', ['show'], 'show needs <tape|case>'],
    ['one argument too many', ['show', 'a', 'b'], "Unexpected argument of show: 'b'"],
    [
      'a program without the dashes',
      ['record', 'node', 'a.js'],
      '→ put -- before the program: npx vitest-harvest record -- node a.js',
    ],
    ['no program', ['record', '--'], 'record needs a program after --'],
    ['dashes where none belong', ['show', 'x', '--', 'y'], 'show takes nothing after --'],
    ['a name that is no file name', ['record', '--id', '../x', '--', 'node', 'a.js'], 'Invalid tape id'],
    ['an agent and a program', ['replay', 'x', '--module', 'a#b', '--', 'node'], 'Unknown tape'],
    ['a group without a command', ['tapes'], 'tapes needs <rm|prune|hold|release|demote>'],
    ['an unknown command of a group', ['tapes', 'rmm', 'x'], "Unknown command 'tapes rmm'"],
  ]
  const answers = lazily(() => many(issues.map(([, args]) => args)))

  it.each(issues.map(([name, , message], at) => [name, message, at] as const))(
    '%s is refused with exit code 2',
    (_, message, at) => {
      const { code, stdout, stderr } = answers()[at]!
      expect(stderr).toContain(message)
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    },
  )

  it('an option is not taken for one that shares only its dashes', () => {
    const proposed = (...argv: readonly string[]): readonly string[] => {
      try {
        parse(argv, specs)
      } catch (error) {
        if (HarvestError.is(error)) return error.facts.fix ?? []
      }
      throw new Error(`taken: ${argv.join(' ')}`)
    }
    const help = 'for all options: npx vitest-harvest fork --help'
    expect(proposed('fork', 'bad', '--call', '9')).toEqual([help])
    expect(proposed('fork', 'bad', '--max', '9')).toEqual([help])
    expect(proposed('fork', 'bad', '--tial', 'live')).toEqual([
      'did you mean: npx vitest-harvest fork bad --tail live',
      help,
    ])
  })

  it('the answer to a mistake says what to do', async () => {
    const { stderr } = await harvest(['show', '--jsn', 'x'])
    expect(stderr).toMatchInlineSnapshot(`
      "Unknown option '--jsn' of show

        options  --step, --raw, --trace, --find, --replay, --full, --reads, --steps, --dir, --json, --help, -h

      An unknown option is refused, so that a typo never changes what runs.
      → did you mean: npx vitest-harvest show --json x
      → for all options: npx vitest-harvest show --help
      (HARVEST_CLI_OPTION)
      "
    `)
  })

  it('with --json the mistake is JSON on stdout', async () => {
    const { code, stdout, stderr } = await harvest(['show', '--json', 'nowhere.tape.jsonl'])
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'HARVEST_TAPE_MISSING' } })
    expect({ code, stderr }).toEqual({ code: 2, stderr: '' })
  })
})

const names = specs.map(({ name }) => name)

describe('help', () => {
  it('names every command', async () => {
    const { code, stdout } = await harvest(['--help'])
    expect(code).toBe(0)
    expect(stdout).toMatchInlineSnapshot(`
      "vitest-harvest 0.1.0: turn a recorded AI agent run into a deterministic test

      Usage: npx vitest-harvest <command> [options]

      Record
        init    Set up a project: plugin, .gitignore, .gitattributes
        record  Run a Node program and record it
        import  Make tapes from recordings of other tools
        export  Write runs as OpenTelemetry spans, HAR or a plain trace

      Inspect
        ls      List tapes: time, agent, steps, cost, outcome
        show    Print a run step by step
        diff    Compare two runs: outcome, tool calls, steps, prompts, cost
        report  Write a run as one HTML file, or the golden set
        open    Serve read-only reports of all recordings on 127.0.0.1

      Test
        promote  Make a test from a tape: case, baseline and a copy of the tape
        fix      Turn a fixed incident into a green case with a new tape
        test     Run Vitest with update, tool and proof flags
        accept   Accept changed prompts, tools and settings of cases
        check    Check recordings before a commit: schema, pairs, digests, secrets, size
        review   Review a pull request: weaker cases, what each tape does, secrets, duplicates
        rerun    Run a case with live models several times and count passes

      Debug
        replay  Run the agent or program of a tape again, from the tape
        debug   Step through a run, in both directions
        fork    Replay to a step, change it, run on
        doctor  Find what makes runs irreproducible, and name the line

      Explain
        blame     Find the step that decided a failed run
        chaos     Inject faults into a recorded run and find the fewest that break it
        validate  Measure blame on planted causes: can its verdicts be trusted

      Manage
        tapes  Remove, prune, hold, release and demote tapes

      Show an incident from complaint to fixed, in an empty folder, without a key: npx vitest-harvest demo
      Options of a command: npx vitest-harvest <command> --help
      Version: npx vitest-harvest --version
      "
    `)
  })

  it('without a command is the same', async () => {
    expect(await harvest([])).toEqual(await harvest(['--help']))
  })

  const answers = lazily(() => many(names.map((name) => [name, '--help'])))

  it.each(names.map((name, at) => [name, at] as const))('of %s has an example and --json', (name, at) => {
    const { code, stdout } = answers()[at]!
    expect(code).toBe(0)
    expect(stdout).toContain(`Usage: npx vitest-harvest ${name}`)
    expect(stdout).toContain('Examples:')
    if (name !== 'tapes') expect(stdout).toContain('--json')
  })

  it('is loaded in a moment: a table and no room', () => {
    const ask = `
      const { registerHooks } = require('node:module')
      const loaded = []
      // As much processor time as all the rest.
      Intl.Segmenter = class { constructor() { throw new Error('help has no use for it') } }
      registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
      process.on('exit', () => process._rawDebug(loaded.filter((url) => url.startsWith('file:')).join(' ')))
      process.argv.push('--help')
      import(${JSON.stringify(resolve('src/bin.ts'))})
    `
    const { stderr } = spawnSync(process.execPath, ['-e', ask], { encoding: 'utf8' })
    const modules = stderr.trim().split(' ')
    expect(
      modules.filter(
        (url) =>
          !/\/(?:bin|version|cli\/[a-z]+|cli\/spec\/[a-z]+|errors\/[a-z-]+|report\/(?:fold|output)|(?:im|ex)porters\/types)\.ts$/.test(
            url,
          ),
      ),
    ).toEqual([])
    expect(modules.length).toBe(29)
  })

  it('has no colour where there is no terminal', async () => {
    const { stdout } = await harvest(['--help'])
    expect(stdout).not.toContain('\u001b')
  })

  it('--version says the version of package.json', async () => {
    const { stdout } = await harvest(['--version'])
    expect(stdout).toBe('0.1.0\n')
  })
})

it('docs/cli.md lists every command and option', () => {
  const page = readFileSync('docs/cli.md', 'utf8')
  expect(page).toContain(reference())
  expect(page).toContain(overview())
})

it('the help lists at most 24 commands, each with the page about it', () => {
  const listed = specs.filter(({ group }) => group !== undefined)
  expect(listed.length).toBeLessThanOrEqual(24)
  expect(listed.filter(({ page }) => !existsSync(`docs/${page}.md`)).map(({ name }) => name)).toEqual([])
})

describe('an earlier spelling', () => {
  const former: readonly (readonly [args: readonly string[], hint: string])[] = specs.flatMap((spec) => [
    ...(spec.now === undefined
      ? []
      : [[[spec.name], `hint: ${spec.name} is now npx vitest-harvest ${spec.now}`] as const]),
    ...spec.options.flatMap(({ flag, was = [] }) =>
      was.map(
        (one) =>
          [
            [spec.name, ...one.flag.split(' ')],
            `is now ${one.implies === undefined || !spec.options.some((o) => o.flag === `--${one.implies}`) ? '' : `--${one.implies} `}${flag.split(' ')[0]}`,
          ] as const,
      ),
    ),
  ])

  it.each(former.map(([args, hint]) => [args.slice(0, 2).join(' '), args, hint] as const))(
    '%s works, with a hint',
    (_, args, hint) => {
      const spec =
        specs.find(({ name }) => name === args[0]) ?? specs.find(({ name }) => name === args.slice(0, 2).join(' '))
      const slots = (spec?.args ?? '').split(' ').filter((slot) => slot.startsWith('<'))
      const [name = '', ...option] = args
      const parsed = parse([...name.split(' '), ...slots, ...option.map((word) => word.replace(/^<.*>$/, '1'))], specs)
      expect(parsed).toMatchObject({
        kind: 'run',
        hints: expect.arrayContaining([expect.stringContaining(hint)]) as string[],
      })
    },
  )

  it('means the same as the new one', () => {
    const values = (args: readonly string[], names: readonly string[]): unknown => {
      const parsed = parse(args, specs)
      return parsed.kind === 'run' ? names.map((name) => parsed.given.values(name)) : undefined
    }
    const pairs: readonly (readonly [old: readonly string[], now: readonly string[], names: readonly string[]])[] = [
      [
        ['blame', 'x', '--budget', '2'],
        ['blame', 'x', '--live', '--max-cost', '2'],
        ['live', 'max-cost'],
      ],
      [['blame', 'x', '--delta', '0.05'], ['blame', 'x', '--confidence', '0.95'], ['confidence']],
      [['ls', '--min-cost', '1', '--max-cost', '2'], ['ls', '--cost', '1..', '--cost', '..2'], ['cost']],
      [['fork', 'x', '--clock', '-30m'], ['fork', 'x', '--clock=-30m'], ['clock']],
    ]
    for (const [old, now, names] of pairs) expect(values(old, names)).toEqual(values(now, names))
  })

  it('prints its hint on stderr, and none with --json or in CI', { tags: 'thorough' }, async () => {
    const args = ['ls', '--class', 'none', '--dir', '.']
    expect((await harvest(args, { env: { CI: undefined } as never })).stderr).toContain(
      'hint: --class is now --retention',
    )
    expect((await harvest([...args, '--json'])).stderr).toBe('')
    expect((await harvest(args, { env: { CI: '1' } })).stderr).not.toContain('hint')
  })
})

/** Makes a value when it is first asked for. */
function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}
