import { loadCommands } from '../../src/cli/commands/index.ts'
import { describe, expect, it } from 'vitest'
import { harvest } from './harvest.ts'
import { many } from './many.ts'

describe('a command line that is wrong', () => {
  it('a mistyped command is refused, with the one that was meant', async () => {
    const { code, stdout, stderr } = await harvest(['recrd', '--', 'node', 'agent.js'])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain("harvest has no command 'recrd'")
    expect(stderr).toContain('→ did you mean: harvest record')
  })

  const mistakes: readonly (readonly [name: string, args: readonly string[], message: string])[] = [
    ['a mistyped option', ['record', '--dirr', 'x', '--', 'node', 'a.js'], '→ did you mean: --dir'],
    ['an option of another command', ['show', '--allow', 'x', 'y'], "harvest show has no option '--allow'"],
    ['a negated option', ['show', '--no-json', 'x'], "harvest show has no option '--no-json'"],
    ['a dotted option', ['show', '--json.x', 'y'], "harvest show has no option '--json.x'"],
    ['an option that is a trap', ['show', '--__proto__=1', 'x'], "harvest show has no option '--__proto__'"],
    ['an unknown letter', ['show', '-j', 'x'], "harvest show has no option '-j'"],
    ['an option without its value', ['record', '--dir', '--', 'node', 'a.js'], '--dir was given without a value'],
    ['an option twice', ['record', '--id', 'a', '--id', 'b', '--', 'node', 'a.js'], '--id was given more than once'],
    ['a value where none belongs', ['show', '--json=1', 'x'], '--json takes no value'],
    ['a missing argument', ['show'], 'harvest show needs <tape|case>'],
    ['one argument too many', ['show', 'a', 'b'], "does not know what to do with 'b'"],
    [
      'a program without the dashes',
      ['record', 'node', 'a.js'],
      '→ put -- before the program: harvest record -- node a.js',
    ],
    ['no program', ['record', '--'], 'harvest record needs a program behind --'],
    ['dashes where none belong', ['show', 'x', '--', 'y'], 'harvest show takes nothing behind --'],
    ['a name that is no file name', ['record', '--id', '../x', '--', 'node', 'a.js'], 'cannot be the name of a file'],
    ['an agent and a program', ['replay', 'x', '--agent', 'a#b', '--', 'node'], 'There is no tape'],
  ]
  const answers = lazily(() => many(mistakes.map(([, args]) => args)))

  it.each(mistakes.map(([name, , message], at) => [name, message, at] as const))(
    '%s is refused with exit code 2',
    (_, message, at) => {
      const { code, stdout, stderr } = answers()[at]!
      expect(stderr).toContain(message)
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    },
  )

  it('the answer to a mistake says what to do', async () => {
    const { stderr } = await harvest(['show', '--jsn', 'x'])
    expect(stderr).toMatchInlineSnapshot(`
      "harvest show has no option '--jsn'

        options  --step, --raw, --trace, --replay, --full, --draws, --limit, --dir, --json, --help, -h

      An option that is not known is refused, so that a typo never changes what is run.
      → did you mean: --json
      → for all of them: harvest show --help
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

const names = (await loadCommands(undefined)).map(({ name }) => name)

describe('help', () => {
  it('names every command', async () => {
    const { code, stdout } = await harvest(['--help'])
    expect(code).toBe(0)
    expect(stdout).toMatchInlineSnapshot(`
      "harvest/0.1.0

      Usage:
        $ harvest <command> [options]

      Commands:
        init               Set a project up: finds its agents, puts the plugin into its Vitest config, the inbox into .gitignore, tapes into .gitattributes
        record             Run a Node program and record it; its exit code is passed on
        import <file>      Make tapes of recordings of other tools: VCR cassettes, HAR, nock, traces and the like; a folder is looked through
        export <...tapes>  Write runs in formats other tools know: spans for a tracing backend, HAR, or the trace as plain JSON
        ls                 List the tapes: when, which agent, how many steps, what it cost, how it ended
        show <tape|case>   Print a run: prompts, tool calls, answers, times, tokens and cost, step by step
        diff <a> <b>       Say how two runs differ: outcome, tool calls, steps, prompts, cost (two tapes, two cases, or one of each)
        promote <tape>     Make a test of a tape: writes its case, with the baseline, and a copy of it into the golden set
        demote <case>      Take a case out of the golden set: its tape goes back to the inbox, its case file is removed
        rm <...tapes>      Remove tapes from the inbox for good; asks first
        prune              Remove the tapes of the inbox whose retention has ended; never one under a hold
        hold <tape>        Keep a tape of the inbox whatever its retention says, until the hold is released
        accept [...cases]  Accept changed prompts, tools and settings of cases after a look at them; without a case, those of all cases
        test               Run Vitest; also understands --update-recordings[=new|questions|all|none], --reason, --tools, --yes and --prove
        replay <tape>      Run the program or agent of a tape again, from the tape
        verify <tape>      Run a tape and demand that every byte, read, answer and exit code is the recorded one
        rerun [case]       Run a case with its models asked for real and its tools answered from the tape: how often does it pass
        patch <tape>       Change one recorded input, replay, and say whether the outcome survives
        fork <tape|case>   Replay a run to a step, change something there, and let the agent run on: what comes of it
        blame <tape|case>  Say which step of a bad run decided its outcome: runs it anew from each step on, with its models asked for real
        chaos <case>       Let things go wrong in a recorded run, and find the fewest faults the agent does not survive
        doctor [tape...]   Find what makes runs irreproducible: replays with one answer at a time being another, and names the line
        validate           Plant known causes and score what blame says of them: is the instrument to be trusted
        pins [...cases]    Say which cases were made with which commit, models, prompt and tools, and what has changed since
        check [...files]   Check cases and tapes before they are committed: schema, pairs, digests, secrets, size

      Options:
        -h, --help     Display this message 
        -v, --version  Display version number 
      "
    `)
  })

  it('without a command is the same', async () => {
    expect(await harvest([])).toEqual(await harvest(['--help']))
  })

  const answers = lazily(() => many(names.map((name) => [name, '--help'])))

  it.each(names.map((name, at) => [name, at] as const))('of harvest %s has an example and --json', (name, at) => {
    const { code, stdout } = answers()[at]!
    expect(code).toBe(0)
    expect(stdout).toContain(`$ harvest ${name}`)
    expect(stdout).toContain('Examples:')
    expect(stdout).toContain('--json')
  })

  it('has no colour where there is no terminal', async () => {
    const { stdout } = await harvest(['--help'])
    expect(stdout).not.toContain('\u001b')
  })

  it('--version says the version of package.json', async () => {
    const { stdout } = await harvest(['--version'])
    expect(stdout).toMatch(/^harvest\/0\.1\.0 /)
  })
})

/** Makes a value when it is first asked for. */
function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}
