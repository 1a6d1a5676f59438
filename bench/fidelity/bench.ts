import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { runInChild } from '../../fixtures/child/index.ts'
import type { Bench, Table } from '../kit/contract.ts'
import { titleOf, type ToolName, toolNames } from '../peers/tool.ts'
import { runs } from './agents.ts'
import { checks, type Facts } from './checks.ts'
import { falsify, textIn } from './disk.ts'
import type { Driven, Job } from './drive.child.ts'
import { startProvider } from './provider.ts'

const bench: Bench = {
  question: 'Which of nineteen checks does a recorder pass?',
  async run({ scratch, peers, progress }) {
    for (const folder of ['http', 'aimock']) await peers(folder)
    const results = new Map<ToolName, readonly (string | undefined)[]>()
    // Two at a time: most of it is waiting.
    const waiting = [...toolNames]
    const work = async (): Promise<void> => {
      for (let tool = waiting.shift(); tool !== undefined; tool = waiting.shift()) {
        progress(titleOf(tool))
        results.set(tool, await failuresOf(tool, join(scratch, tool)))
      }
    }
    await Promise.all([work(), work()])
    const passed = (tool: ToolName): number => (results.get(tool) ?? []).filter((reason) => reason === undefined).length
    const others = toolNames.filter((tool) => tool !== 'ours').map((tool) => [titleOf(tool), passed(tool)] as const)
    return {
      tables: [table(results, passed), reasons(results)],
      bars: [
        {
          what: 'checks passed, of nineteen',
          value: passed('ours'),
          limit: { atLeast: 19 },
          others: Object.fromEntries(others),
          claim: 'Checks passed, of nineteen that a recorded run needs to be a test',
        },
      ],
    }
  },
}
export default bench

/** Why each check fails, `undefined` where it passes. */
async function failuresOf(tool: ToolName, dir: string): Promise<readonly (string | undefined)[]> {
  const provider = await startProvider()
  const outside = createServer((_, response) => response.setHeader('x-outside', 'yes').end())
  await new Promise<void>((ready) => outside.listen(0, '127.0.0.1', ready))
  const drive = (mode: Job['mode'], names: readonly string[]): Promise<Driven> => {
    const { port } = outside.address() as AddressInfo
    const made = { tool, mode, dir, upstream: provider.base, outside: `http://127.0.0.1:${port}` }
    const job: Job = { ...made, runs: names, patienceMs: 5_000 }
    return runInChild(new URL('./drive.child.ts', import.meta.url), job)
  }
  try {
    const names = Object.keys(runs)
    const recorded = await drive('record', names)
    const onDisk = new Map(names.map((name) => [name, textIn(join(dir, name))]))
    falsify(join(dir, 'edited'))
    provider.refuse()
    const replayed = await drive('replay', names)
    const live = provider.live()
    if (live > 0) throw new Error(`${titleOf(tool)} made ${live} live calls in a replay`)
    const facts = (name: string): Facts => {
      const [before, now] = [recorded[name], replayed[name]]
      if (!before || !now) throw new RangeError(`no run is called ${name}`)
      return { recorded: before, replayed: now, onDisk: onDisk.get(name) ?? '' }
    }
    return checks.map((check) => check.fails(facts))
  } finally {
    await provider.close()
    outside.closeAllConnections()
    await new Promise((done) => outside.close(done))
  }
}

function table(
  results: ReadonlyMap<ToolName, readonly (string | undefined)[]>,
  passed: (tool: ToolName) => number,
): Table {
  return {
    title: 'Nineteen checks',
    columns: ['', 'check', ...toolNames.map(titleOf)],
    rows: [
      ...checks.map(({ what }, i) => [
        `${i + 1}`,
        what,
        ...toolNames.map((tool) => (results.get(tool)?.[i] === undefined ? '✔' : '✘')),
      ]),
      ['', '**passed**', ...toolNames.map((tool) => `**${passed(tool)}**`)],
    ],
  }
}

function reasons(results: ReadonlyMap<ToolName, readonly (string | undefined)[]>): Table {
  return {
    title: 'Why a check fails',
    columns: ['recorder', 'check', 'because'],
    rows: toolNames.flatMap((tool) =>
      (results.get(tool) ?? []).flatMap((reason, i) =>
        reason === undefined ? [] : [[titleOf(tool), `${i + 1}`, reason]],
      ),
    ),
  }
}
