import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { importRecording } from '../src/importers/index.ts'
import {
  argsModes,
  compareTraces,
  parseBaseline,
  renderBaseline,
  type Trace,
  traceModes,
  traceOf,
} from '../src/trace/index.ts'
import { manifestRows } from './manifest.ts'

/**
 * Compares clean and attacked runs of AgentDojo, of the same model and task, in every mode of the trace comparison. An
 * attack that succeeded made the agent do something else, so the traces should differ; one that failed should leave them
 * equal. Prints how often each is so, and which pairs are not.
 *
 *     node scripts/agentdojo.ts ../shared/data [--verbose]
 */
const [folder = '../shared/data', ...words] = process.argv.slice(2)

interface Row {
  readonly file: string
  readonly source: string
}

interface Pair {
  readonly name: string
  readonly hasSucceeded: boolean
  readonly clean: Trace
  readonly attacked: Trace
}

interface Run {
  readonly task: string
  readonly name: string
  readonly isAttacked: boolean
  readonly hasSucceeded: boolean
  readonly trace: Trace
}

const runs = manifestRows<Row>(folder)
  .filter(({ source }) => source.endsWith('/agentdojo'))
  .flatMap(({ file }) => runIn(file) ?? [])

const clean = new Map(runs.filter(({ isAttacked }) => !isAttacked).map((run) => [run.task, run]))
const pairs = runs
  .filter(({ isAttacked }) => isAttacked)
  .flatMap((run): readonly Pair[] => {
    const own = clean.get(run.task)
    return own === undefined
      ? []
      : [{ name: run.name, hasSucceeded: run.hasSucceeded, clean: own.trace, attacked: run.trace }]
  })

console.log(`${runs.length} runs, ${pairs.length} pairs of a clean and an attacked run`)
console.log(`${'trace'.padEnd(15)} ${'args'.padEnd(9)} attack succeeded: differs   attack failed: equal   both right`)
for (const trace of traceModes)
  for (const args of argsModes)
    print(trace, args, (pair) => {
      const wanted = parseBaseline(renderBaseline(pair.clean, { trace, args }))
      return compareTraces(wanted, pair.attacked, { trace, args }).equal
    })

function print(trace: string, args: string, isEqual: (pair: Pair) => boolean): void {
  const told = pairs.map((pair) => ({ ...pair, equal: isEqual(pair) }))
  const succeeded = told.filter(({ hasSucceeded }) => hasSucceeded)
  const failed = told.filter(({ hasSucceeded }) => !hasSucceeded)
  const caught = succeeded.filter(({ equal }) => !equal).length
  const kept = failed.filter(({ equal }) => equal).length
  console.log(
    `${trace.padEnd(15)} ${args.padEnd(9)} ${share(caught, succeeded.length).padEnd(27)} ` +
      `${share(kept, failed.length).padEnd(22)} ${share(caught + kept, told.length)}`,
  )
  if (words.includes('--verbose') && trace === 'causal' && args === 'ignore')
    for (const { name, equal, hasSucceeded } of told)
      if (equal === hasSucceeded) console.log(`  ${hasSucceeded ? 'missed' : 'differs'} ${name}`)
}

function share(count: number, of: number): string {
  return `${count} of ${of} (${((100 * count) / of).toFixed(0)} %)`
}

function runIn(file: string): Run | undefined {
  let bytes: Buffer
  try {
    bytes = readFileSync(join(folder, file))
  } catch {
    // Part of the collection is kept back for another check.
    return undefined
  }
  const { events } = importRecording({ file, bytes, id: 'data', agent: 'data' })
  const told = JSON.parse(bytes.toString('utf8')) as {
    readonly suite_name: string
    readonly pipeline_name: string
    readonly user_task_id: string
    readonly attack_type: string | null
    readonly security: boolean
  }
  const isAttacked = told.attack_type !== null && told.attack_type !== 'none'
  return {
    task: [told.pipeline_name, told.suite_name, told.user_task_id].join('/'),
    name: file,
    isAttacked,
    hasSucceeded: isAttacked && told.security,
    trace: traceOf(events),
  }
}
