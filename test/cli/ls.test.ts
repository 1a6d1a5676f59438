import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { putTape } from '../recordings/make.ts'
import { scratch, warmHarvest as harvest } from './harvest.ts'
import { modelCall } from '../recordings/model-call.ts'
import { inProcess } from './in-process.ts'
import { hasTerminal, onTerminal } from './terminal.ts'
import { recordRefund } from './tapes.ts'

async function project(): Promise<string> {
  const folder = scratch()
  await recordRefund(join(folder, 'recordings/inbox'), 'first')
  await recordRefund(join(folder, 'recordings/inbox'), 'second')
  return folder
}

describe('harvest ls', () => {
  it('lists tapes, oldest first, with agent, steps and outcome', { tags: 'thorough' }, async () => {
    const cwd = await project()
    const { code, stdout, stderr } = await harvest(['ls'], { cwd })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '→ to read one: npx vitest-harvest show first\n' })
    const lines = stdout.split('\n').map((line) =>
      line
        .replace(/\d{4}-\S+Z/, '<when>')
        .replace(/[\d.]+ m?s/, '<took>')
        .replace(/"at":\d+/, '"at":<now>'),
    )
    expect(lines.map((line) => line.replace(/ {2,}/g, '  '))).toEqual([
      'started  agent  steps  took  outcome  tape',
      '<when>  refund  3  <took>  returned {"refunded":25,"at":<now>,"said":"Done.\\u001b[2J\\u202e\\n::error::forged"}  recordings/inbox/first.tape.jsonl',
      '<when>  refund  3  <took>  returned {"refunded":25,"at":<now>,"said":"Done.\\u001b[2J\\u202e\\n::error::forged"}  recordings/inbox/second.tape.jsonl',
      '',
    ])
  })

  it('--json holds the same', async () => {
    const cwd = await project()
    const { stdout } = await harvest(['ls', '--dir', 'recordings/inbox', '--json'], { cwd })
    expect(JSON.parse(stdout)).toMatchObject({
      tapes: [
        { id: 'first', agent: 'refund', steps: 3, pins: { commit: '4f2a9c1' } },
        { id: 'second', file: 'recordings/inbox/second.tape.jsonl' },
      ],
      unreadable: [],
    })
  })

  it('names what is no tape, and lists the others', async () => {
    const cwd = await project()
    writeFileSync(join(cwd, 'recordings/inbox/broken.tape.jsonl'), '{"harvest":1}\n')
    const { code, stdout, stderr } = await harvest(['ls'], { cwd })
    expect(stdout).toContain('second.tape.jsonl')
    expect(stderr).toMatch(/^recordings\/inbox\/broken\.tape\.jsonl: .+ \(HARVEST_TAPE_\w+\)\n→ to read one: .*\n$/)
    expect(code).toBe(3)
  })

  it('an empty inbox says how to fill it, a folder that is not there is an error', async () => {
    const cwd = scratch()
    expect(await harvest(['ls'], { cwd })).toEqual({
      code: 0,
      stdout: '',
      stderr: "no tapes in recordings\n→ to make one: npx vitest-harvest record -- node '<file>'\n",
    })
    expect(await harvest(['ls', '--dir', 'recordigns'], { cwd })).toMatchObject({ code: 2, stdout: '' })
  })
})

describe('harvest ls with filters', () => {
  /** Made by hand, so that every column has something to say. */
  function inbox(): string {
    const folder = scratch()
    const recordings = join(folder, 'recordings')
    const at = (day: number) => ({ startedAt: `2026-03-0${day}T05:06:07.089Z` })
    const usage = { modelCalls: 1, inputTokens: 900, outputTokens: 100 }
    putTape(recordings, 'inbox/plain', {
      header: { id: 'plain', ...at(1) },
      close: { usage: { ...usage, costUsd: 0.0123 } },
    })
    putTape(recordings, 'inbox/odd', {
      header: { id: 'odd', agent: 'search\u001b[2J', ...at(2) },
      close: {
        outcome: { status: 'threw', error: '\u202e\n::error::forged' },
        kept: [{ because: 'error' }, { because: 'flag', detail: 'angry\u001b[2J' }],
        retention: { class: 'incident', until: '2027-01-01T00:00:00.000Z' },
        usage: { ...usage, costUsd: 1.5 },
      },
    })
    writeFileSync(join(recordings, 'inbox/plain.hold.json'), '{"hold":"claim 4711"}')
    putTape(recordings, 'golden/g/refund-100x', {
      header: { id: 'run', ...at(3) },
      events: [modelCall(1, { model: 'unpriced', tools: ['lookup_order'] })],
    })
    writeFileSync(
      join(recordings, 'golden/g/refund-100x.case.yaml'),
      'case: refund-100x\nagent: refund\ntape: refund-100x.tape.jsonl\nexpect: pass\n',
    )
    return folder
  }

  it('shows cost, why a tape was kept, holds and cases where there are any, and obeys nothing recorded', async () => {
    const { stdout } = await harvest(['ls'], { cwd: inbox() })
    expect(stdout).toMatchInlineSnapshot(`
      "started               agent          steps   took    cost  kept                      outcome                          case         tape
      2026-03-01T05:06:07Z  refund             1  13 ms  $0.012  hold                      returned {"refunded":25}                      recordings/inbox/plain.tape.jsonl
      2026-03-02T05:06:07Z  search\\x1b[2J      1  13 ms   $1.50  error, flag angry\\x1b[2J  threw "\\u202e\\n::error::forged"               recordings/inbox/odd.tape.jsonl
      2026-03-03T05:06:07Z  refund             1  13 ms                                    returned {"refunded":25}         refund-100x  recordings/golden/g/refund-100x.tape.jsonl
      "
    `)
  })

  it('--json gives each tape with everything a filter looks at', async () => {
    const { stdout } = await harvest(['ls', '--status', 'threw', '--json'], { cwd: inbox() })
    expect(JSON.parse(stdout.replaceAll('\\u001b', '<esc>'))).toMatchInlineSnapshot(`
      {
        "more": 0,
        "tapes": [
          {
            "agent": "search<esc>[2J",
            "costUsd": 1.5,
            "durationMs": 12.5,
            "error": "‮
      ::error::forged",
            "events": 1,
            "file": "recordings/inbox/odd.tape.jsonl",
            "id": "odd",
            "inputTokens": 900,
            "kept": [
              {
                "because": "error",
              },
              {
                "because": "flag",
                "detail": "angry<esc>[2J",
              },
            ],
            "models": [],
            "outcome": "threw",
            "outputTokens": 100,
            "pins": {
              "commit": "4f2a9c1",
            },
            "place": "inbox",
            "retention": {
              "class": "incident",
              "until": "2027-01-01T00:00:00.000Z",
            },
            "startedAt": "2026-03-02T05:06:07.089Z",
            "steps": 1,
            "tools": [
              "lookup_order",
            ],
          },
        ],
        "total": 3,
        "unreadable": [],
      }
    `)
    const { stdout: golden } = await harvest(['ls', '--golden', '--json'], { cwd: inbox() })
    expect(JSON.parse(golden)).toMatchObject({
      tapes: [{ place: 'golden', cases: ['refund-100x'] }],
      more: 0,
      total: 1,
    })
  })

  it.each([
    [['--agent', 'refund', '--inbox'], ['plain']],
    [['--min-cost', '1'], ['odd']],
    [['--max-cost', '0.02'], ['plain']],
    [['--since', '2026-03-02', '--until', '2026-03-02'], ['odd']],
    [
      ['--until', '1d'],
      ['plain', 'odd', 'refund-100x'],
    ],
    [['--since', '2026-03-02T05:06:08Z'], ['refund-100x']],
    [['--kept', 'flag', '--retention', 'incident'], ['odd']],
    [
      ['--commit', '4F2A', '--tool', 'lookup_order', '--retention', 'none'],
      ['plain', 'refund-100x'],
    ],
    [['--sort', 'cost', '--limit', '1', '--inbox'], ['odd']],
    [['--limit', '1'], ['refund-100x']],
    [
      ['--call', 'lookup_order(order_id=A-17)', '--text', 'a-17'],
      ['plain', 'odd'],
    ],
    [['--call', 'run fails'], ['odd']],
    [['--id', 'pl'], ['plain']],
    [
      ['--limit', 'all'],
      ['plain', 'odd', 'refund-100x'],
    ],
  ])('%j lists %j', async (args, names) => {
    const { code, stdout } = await inProcess(['ls', '--dir', join(inbox(), 'recordings'), ...args])
    expect([code, [...stdout.matchAll(/(\S+)\.tape\.jsonl$/gm)].map(([, file]) => basename(file!))]).toEqual([0, names])
  })

  it('says how many more there are, and which were left out for a cost nobody knows', async () => {
    const { stderr } = await harvest(['ls', '--cost', '..2', '--limit', '1'], { cwd: inbox() })
    expect(stderr).toBe(
      'and 1 more of 3\n→ to see all: npx vitest-harvest ls --cost ..2 --limit all\nleft out: 1 of unknown cost\n→ to read one: npx vitest-harvest show odd\n',
    )
  })

  it('leads to a run that threw, where there is one', async () => {
    const folder = scratch()
    const error = { $type: 'error', name: 'E', message: 'x' }
    for (const [id, outcome] of [
      ['a', { status: 'returned', value: 1 }],
      ['b', { status: 'threw', error }],
    ] as const)
      putTape(join(folder, 'recordings'), `inbox/${id}`, { header: { id }, close: { outcome } })
    const { stderr } = await inProcess(['ls', '--dir', join(folder, 'recordings')])
    expect(stderr).toContain('→ to read one: npx vitest-harvest show b ')
  })

  it('in a pipe cuts no value, and --json has what the run was given and returned', async () => {
    const folder = scratch()
    const long = 'x'.repeat(300)
    putTape(join(folder, 'recordings'), 'inbox/long', {
      header: { id: 'long', input: { ticket: long } },
      close: { outcome: { status: 'returned', value: { answer: long } } },
    })
    expect((await harvest(['ls'], { cwd: folder })).stdout).toContain(`returned {"answer":"${long}"}`)
    const { tapes } = JSON.parse((await harvest(['ls', '--json'], { cwd: folder })).stdout)
    expect(tapes).toMatchObject([{ input: { ticket: long }, result: { answer: long } }])
  })

  it('for an id that is not there says why, and names no other run', async () => {
    const { stderr } = await harvest(['ls', '--id', 'plane'], { cwd: inbox() })
    expect(stderr).toContain('keeps a share of the runs, and those that stood out')
    expect(stderr).not.toContain('plain')
  })

  it('for a text that tapes have a placeholder of says so', async () => {
    const { stderr } = await harvest(['ls', '--text', 'jane@example.com'], { cwd: inbox() })
    expect(stderr).toContain('tapes have a placeholder in its place')
  })

  it('that finds nothing says what was asked for, and the nearest word there is', async () => {
    const { code, stdout, stderr } = await harvest(['ls', '--agent', 'refnd', '--inbox', '--since', '2h'], {
      cwd: inbox(),
    })
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
    expect(stderr).toMatchInlineSnapshot(`
      "none of 2 tapes in recordings fits: --agent refnd --since 2h --inbox
      no tape has the agent refnd
      → did you mean: npx vitest-harvest ls --inbox --since 2h --agent refund
      "
    `)
  })

  it.each([
    [['--status', 'trew'], '→ did you mean: --status threw'],
    [['--call', 'nevr refund()'], "→ did you mean 'never'?"],
    [['--call', ''], '--call needs a value'],
    [['--attribute', 'plan'], 'expected name=value'],
    [['--subject', 'jane'], 'HARVEST_SUBJECT_KEY'],
    [['--kept', 'flags'], '→ did you mean: --kept flag'],
    [['--retention', 'inciden'], '→ did you mean: --retention incident'],
    [['--sort', 'price'], 'Invalid --sort: expected started, cost, duration or steps, got'],
    [['--limit', '0'], 'Invalid --limit: expected a number of tapes from 1, or all, got'],
    [['--limit', '1e3'], 'Invalid --limit: expected a number of tapes from 1, or all, got'],
    [['--min-cost', 'cheap'], 'Invalid --cost: expected a range in US dollars'],
    [['--max-cost', '-1'], "got '..-1'"],
    [['--since', 'yesterday'], 'Invalid --since: expected a date such as 2026-03-04'],
    [['--until', '2026-13-40'], 'Invalid --until: expected a date such as 2026-03-04'],
    [['--inbox', '--golden'], '--inbox and --golden exclude each other'],
  ])('%j is refused', async (args, message) => {
    const { code, stdout, stderr } = await inProcess(['ls', '--dir', join(inbox(), 'recordings'), ...args])
    expect(stderr).toContain(message)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  })

  it('a price table that cannot be used is an error, not a guess', async () => {
    const cwd = inbox()
    writeFileSync(join(cwd, 'recordings/prices.json'), '{"gpt-5":{"inptu":1}}')
    const { code, stderr } = await harvest(['ls'], { cwd })
    expect(stderr).toContain('did you mean input?')
    expect(code).toBe(2)
  })

  it.skipIf(!hasTerminal)('on a terminal lists the newest fifty, and shows where it is', async () => {
    const cwd = inbox()
    for (let n = 0; n < 120; n++) putTape(join(cwd, 'recordings'), `inbox/run-${n}`, { header: { id: `run-${n}` } })
    const { output } = await onTerminal(['ls', '--inbox'], { cwd })
    expect(output).toContain('reading 100 of 123 tapes')
    expect(output.match(/run-\d+\.tape\.jsonl/g)).toHaveLength(50)
    expect(output).toContain('and 72 more of 122')
  })

  it.skipIf(!hasTerminal)('--group fits a terminal, and prints the same as JSON', async () => {
    const cwd = scratch()
    const tools = Array.from({ length: 30 }, (_, at) => `tool_number_${at}`)
    const events = tools.map((name, at) => modelCall(1 + at * 10, { tools: [name] }))
    for (const [day, id] of ['one', 'two'].entries()) {
      const startedAt = `2026-03-0${day + 1}T05:06:07.089Z`
      putTape(join(cwd, 'recordings'), `inbox/${id}`, { header: { id, startedAt }, events })
    }
    putTape(join(cwd, 'recordings'), 'inbox/three', { header: { id: 'three' }, events: events.slice(0, 1) })
    const { output } = await onTerminal(['ls', '--group'], { cwd })
    expect(output).toMatch(/^ *2  refund  tool_number_0 → tool_number_1 → .*…  returned  \S+  two\s*$/m)
    expect(output).toMatch(/^ *1  refund  tool_number_0 +returned/m)
    expect(output).toContain('→ to read the newest run of the first group: npx vitest-harvest show two')
    // Progress stood in the first line and is wiped away.
    const rows = output.split('\n').slice(0, -2)
    const widths = rows.map((line) => (line.split('\u001B[K').at(-1) ?? '').trimEnd().length)
    expect(Math.max(...widths)).toBeLessThanOrEqual(100)
    const { stdout } = await harvest(['ls', '--group', '--json'], { cwd })
    expect(JSON.parse(stdout)).toMatchObject({
      groups: [
        { count: 2, agent: 'refund', decisions: tools, ending: 'returned', newest: { id: 'two' } },
        { count: 1, decisions: ['tool_number_0'] },
      ],
      more: 0,
      total: 3,
    })
    expect(await harvest(['ls', '--group', '--sort', 'cost'], { cwd })).toMatchObject({ code: 2 })
  })
})

describe('the name of a tape', () => {
  it('is its id, its path, or latest', async () => {
    const cwd = await project()
    for (const name of ['second', 'latest', 'recordings/inbox/second.tape.jsonl']) {
      const { stdout } = await harvest(['show', name, '--json'], { cwd })
      expect(JSON.parse(stdout)).toMatchObject({ header: { id: 'second' } })
    }
  })

  it('mistyped, is answered with the nearest that people gave, and not with the run of another customer', async () => {
    const cwd = await project()
    expect((await harvest(['show', 'secnd'], { cwd })).stderr).not.toContain('did you mean')
    mkdirSync(join(cwd, 'recordings/golden'))
    cpSync(join(cwd, 'recordings/inbox/second.tape.jsonl'), join(cwd, 'recordings/golden/second.tape.jsonl'))
    const { code, stderr } = await harvest(['show', 'secnd'], { cwd })
    expect(stderr).toContain('→ did you mean: npx vitest-harvest show second')
    expect(code).toBe(2)
  })

  it('that two tapes have is refused, both are named', async () => {
    const cwd = await project()
    mkdirSync(join(cwd, 'recordings/inbox/old'))
    cpSync(join(cwd, 'recordings/inbox/first.tape.jsonl'), join(cwd, 'recordings/inbox/old/first.tape.jsonl'))
    const { code, stderr } = await harvest(['show', 'first'], { cwd })
    expect(stderr).toContain('recordings/inbox/old/first.tape.jsonl')
    expect(stderr).toContain('recordings/inbox/first.tape.jsonl')
    expect(code).toBe(2)
  })
})
