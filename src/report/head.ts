import { dirname, join } from 'node:path'
import type { Case } from '../cases/index.ts'
import { here } from '../errors/here.ts'
import {
  type Imported,
  isStartKnown,
  isTimed,
  type KeptReason,
  type Retention,
  type TapeParent,
} from '../tape/index.ts'
import { partialText } from '../tape/partial.ts'
import { duration } from './describe.ts'
import { shownCommand } from './shown-command.ts'
import { counted, grouped } from '../errors/words.ts'
import type { Run } from './run.ts'
import { spendingText } from './spending.ts'

/** One line of facts: a label and recorded text, not yet neutral; a command is neutral already. */
export type Fact = readonly [label: string, text: string]

/** What is to be known of a run before its steps. */
export function factsOf(run: Run, found?: Case): readonly Fact[] {
  const { file, header, close, models, spending } = run
  const { id, agent, pins, recorder, command, input, parent, imported } = header
  const packages = Object.entries(pins.packages ?? {}).map(([name, version]) => `${name} ${version}`)
  const dirty = pins.dirty === true ? ' with uncommitted changes' : ''
  return [
    ...(found === undefined ? [] : caseFacts(found)),
    ['tape', id],
    ['file', here(file)],
    ...(parent === undefined ? [] : branchFacts(parent, run)),
    ['agent', agent],
    ['recorded', recordedText(run)],
    ...(imported === undefined ? [] : importedFacts(imported)),
    ...(run.cuts.length === 0 ? [] : [['grade', partialText(run.cuts)] as const]),
    ['made by', [recorder, `node ${pins.node}`, ...packages].join(', ')],
    ['commit', pins.commit === undefined ? 'unknown' : `${pins.commit}${dirty}`],
    ['models', models.length === 0 ? 'none' : models.join(', ')],
    ['usage', spendingText(spending, close?.usage)],
    ...(close?.kept === undefined ? [] : [['kept', keptText(close.kept)] as const]),
    ...(close?.retention === undefined ? [] : [['retention', retentionText(close.retention)] as const]),
    ...(command === undefined ? [] : [['command', shownCommand(command.argv)] as const]),
    ...(input === undefined ? [] : [['input', JSON.stringify(input)] as const]),
    ['steps', stepsText(run)],
  ]
}

/** When, and how long; of an imported tape as far as its recording said. */
function recordedText(run: Run): string {
  const { header } = run
  const tookMs = runTookMs(run)
  return `${isStartKnown(header) ? header.startedAt : 'at an unknown time'}${tookMs === undefined ? '' : `, took ${duration(tookMs)}`}`
}

/** Milliseconds until the run ended; absent when it did not, or when its recording had no times. */
export function runTookMs({ header, close }: Pick<Run, 'header' | 'close'>): number | undefined {
  return isTimed(header) ? close?.at : undefined
}

function importedFacts({ format, grade, missing }: Imported): Fact[] {
  return [
    ['imported', `from ${format}, ${grade}`],
    ['missing', missing.join(', ')],
  ]
}

function caseFacts({ id, file, title, expect, tags = [], lesson }: Case): Fact[] {
  return [
    ['case', `${id}  ${here(file)}`],
    ...(title === undefined ? [] : [['title', title] as const]),
    ['expect', expect === 'fail' ? 'fail: a known-bad incident that is not fixed yet' : expect],
    ...(tags.length === 0 ? [] : [['tags', tags.join(', ')] as const]),
    ...(lesson?.wrong === undefined ? [] : [['wrong was', lesson.wrong] as const]),
    ...(lesson?.right === undefined ? [] : [['right is', lesson.right] as const]),
  ]
}

function branchFacts(parent: TapeParent, { file, steps }: Run): Fact[] {
  const { before = Number.POSITIVE_INFINITY, keep } = parent
  const own = steps.find(({ n }) => n >= before)
  const at =
    own !== undefined
      ? `step ${own.number}`
      : before === Number.POSITIVE_INFINITY
        ? "its end: every event is its parent's"
        : 'its end, behind the last step'
  return [
    ['branch of', `${parent.id}  ${here(join(dirname(file), parent.file))}`],
    ['parts at', `${at}; ${counted(keep, 'step')} kept`],
  ]
}

function keptText(reasons: readonly KeptReason[]): string {
  return reasons.map(({ because, detail }) => (detail === undefined ? because : `${because} (${detail})`)).join(', ')
}

function retentionText({ class: name, until, hold }: Retention): string {
  if (hold !== undefined) return `${name}, on legal hold: ${hold}`
  return until === undefined ? `${name}, never pruned` : `${name}, may be pruned after ${until}`
}

const kinds = ['model', 'tool', 'mcp', 'retrieval', 'value', 'http', 'rpc'] as const

function stepsText({ steps, draws }: Run): string {
  if (steps.length === 0) return 'none'
  const parts = kinds
    .map((kind) => [kind, steps.filter((step) => step.kind === kind).length] as const)
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => `${grouped(count)} ${kind}`)
  const reads = draws.flatMap((event) => event.draws)
  const counts = Map.groupBy(reads, ([kind]) => kind)
  const drawn = [...counts].map(([kind, list]) => `${grouped(list.length)} ${kind}`)
  return `${counted(steps.length, 'step')} (${parts.join(', ')})${drawn.length === 0 ? '' : `; draws: ${drawn.join(', ')}`}`
}
