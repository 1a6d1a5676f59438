import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

/** Tests by file and title, and rows of the table "Not here" of docs/debug.md by how they begin. */
interface Held {
  readonly tests?: Readonly<Record<string, readonly string[]>>
  readonly rows?: readonly string[]
}

const [code, session, states, checkpoints, prompt] = [
  'code',
  'session',
  '../replay/states',
  'checkpoints',
  'prompt',
].map((name) => `${name}.test.ts`) as [string, string, string, string, string]

/** What a time-travel debugger of agents that learn can do, cell by cell. */
const cells: Readonly<Record<string, Held>> = {
  'checkpoint: moment': { tests: { [session]: ['shows arguments, result, clock and state of a tool call'] } },
  'checkpoint: weights, buffers, optimizer': { rows: ['checkpoint of weights'] },
  'checkpoint: state of the agent': {
    tests: { [states]: ['is the value at the call, whatever becomes of the object'] },
  },
  'checkpoint: world, random generators, position in the log': {
    tests: { [code]: ['stops at every step and goes on as one nobody looked at'] },
    rows: ['state of the world'],
  },
  'checkpoint: metadata': {
    tests: { [session]: ['stop where a rule about the run is broken, and at marks before the next step'] },
    rows: ['metadata of a checkpoint'],
  },
  'schedule: interval, change, activity': {
    tests: { [states]: ['is left by the first call, and then where interval, change or activity say so'] },
    rows: ['checkpoint by interval'],
  },
  'schedule: near a probable failure': { rows: ['checkpoint near a probable failure'] },
  'compression: what is new since the one before': {
    tests: { [states]: ['is written as what is new since the one before'] },
    rows: ['checkpoint of weights'],
  },
  'replay to a point: from the nearest checkpoint': {
    tests: {
      [checkpoints]: [
        'stand one step before, here, and farther back by powers of ten',
        'are used up by the nearest step behind them, and end with the session',
      ],
    },
  },
  'replay: every action is compared': {
    tests: {
      [states]: ['in which one is another one is different, by its path'],
      [code]: ['stops at every step and goes on as one nobody looked at'],
    },
    rows: ['every action compared'],
  },
  'fast forward: full, skip, auto': {
    tests: {
      [code]: [
        'is not skipped to where no replay is kept',
        'skips to the replay that is kept before a step, and says by how many steps',
      ],
    },
    rows: ['full, skip and automatic'],
  },
  'fast forward: some components only': {
    tests: { '../replay/tools.test.ts': ['a body that does what it did is green, and is counted as run'] },
    rows: ['replay of some components'],
  },
  'breakpoint: first time': {
    tests: { [session]: ['stop at the steps where a rule holds, on and back, and say at once how many there are'] },
  },
  'breakpoint: once, always so far, within so many steps': {
    tests: {
      '../rules/laws.test.ts': [
        'for every formula and run, the columns are what the definitions say, and so is a monitor of the past',
      ],
    },
    rows: ['once, always so far'],
  },
  'breakpoint: reward, Q value, distance': { rows: ['`reward`'] },
  'breakpoint: a message that was lost': { rows: ['message sent and not received'] },
  'breakpoint: caused': { rows: ['`caused(a, b)`'] },
  'what if: asked again it is there': {
    tests: { '../fork/kept-forks.test.ts': ['is found by all that makes it the same fork'] },
    rows: ['a branch that is asked for again'],
  },
  'what if: several outcomes, the best, critical decisions': {
    tests: {
      '../cli/alternatives.test.ts': [
        'decisions stand in the order of their effect, beside runs that keep them, and the best alternative is named',
      ],
      '../cli/fork.test.ts': ['--critical tries other decisions at every model step, and says what was not tried'],
    },
    rows: ['`what_if`'],
  },
  'command line: goto, back, forward': {
    tests: { [session]: ['goes to a step, on, back and to both ends', 'stops at the ends and says so'] },
  },
  'command line: break, continue': {
    tests: { [prompt]: ['two minutes with a bad refund: from the opening to the line of the code, and back'] },
  },
  'command line: inspect, diff': {
    tests: {
      [session]: [
        'shows what the model saw by part: tokens that add up, what is new, which step answered it',
        'compares two steps: context, arguments, state',
      ],
    },
  },
  'command line: branch, compare, what_if': {
    tests: {
      '../cli/fork.test.ts': [
        '--save keeps the branch as a tape, which shows and differs like any other',
        'is what the prompt of the debugger calls branch, and compare tells how the kept run differs',
      ],
    },
    rows: ['`what_if`'],
  },
  'views: timeline, state differences, tree of branches, several agents': {
    tests: {
      [session]: ['draws what ran side by side'],
      [states]: ['is shown by the debugger at each step, and what differs between two'],
      '../report/browser.test.ts': ['draws agents and branches'],
    },
    rows: ['timeline, state differences'],
  },
  'which layer a failure comes from': {
    tests: { '../cli/isolate.test.ts': ['names %s, and the next command works'] },
    rows: ['the layer that a failure'],
  },
}

describe('what other time-travel debuggers can do', () => {
  const page = readFileSync('docs/debug.md', 'utf8')
  const [, table = ''] = /^## Not here\n([\s\S]*?)^Next/m.exec(page) ?? []
  const rows = table.split('\n').filter((line) => /^\| (?!There|---)/.test(line))

  it.each(Object.entries(cells))(
    '%s: a test holds it, or a row says why not',
    (_, { tests = {}, rows: begin = [] }) => {
      expect(Object.keys(tests).length + begin.length).toBeGreaterThan(0)
      for (const [file, titles] of Object.entries(tests)) {
        const text = readFileSync(new URL(file, import.meta.url), 'utf8')
        for (const title of titles) expect(text, `${file} › ${title}`).toContain(`'${title}'`)
      }
      for (const words of begin) expect(rows.filter((row) => row.startsWith(`| ${words}`))).toHaveLength(1)
    },
  )

  it('has no row that is about none of it', () => {
    const named = Object.values(cells).flatMap(({ rows: begin = [] }) => begin)
    expect(rows.length).toBeGreaterThan(10)
    expect(rows.filter((row) => !named.some((words) => row.startsWith(`| ${words}`)))).toEqual([])
  })
})
