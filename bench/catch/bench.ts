import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Bench, Table } from '../kit/contract.ts'
import { subjects } from './agents/index.ts'
import { type Keys, ours } from './columns/ours.ts'
import { evals, rivals } from './columns/rivals.ts'
import { nodeIn, type Verdicts } from './columns/run.ts'
import { allVariants, layOut, ownModules, type Variant } from './project.ts'
import { barsOf, score, summary } from './score.ts'
import type { Seen } from './truth.ts'

const bench: Bench = {
  question: 'Which regressions of an agent turn a test red, and which harmless edits do?',
  async run({ isQuick, scratch, progress, peers }) {
    const variants = allVariants().filter((variant, index) => variant.edit === undefined || !isQuick || index % 5 === 1)
    const project = layOutIn(scratch, 'project', [
      ownModules,
      join(await peers('http'), 'node_modules'),
      join(await peers('agentevals'), 'node_modules'),
    ])
    const evalProject = layOutIn(scratch, 'evals', [join(await peers('vitest-evals'), 'node_modules'), ownModules])
    progress('the truth: every variant live')
    const ended = await checkTruth(project, variants)
    progress('ours')
    const { verdicts, keys } = await ours(project, variants)
    progress('tests by hand, agentevals, Polly, nock')
    for (const [column, of] of await rivals(project, variants)) verdicts.set(column, of)
    progress('vitest-evals')
    for (const [column, of] of await evals(evalProject, variants)) verdicts.set(column, of)
    checkComplete(verdicts, variants)
    const scores = [...verdicts].map(([column, of]) => score(column, of, variants, ended))
    return {
      tables: [
        summary(scores),
        ...subjects.map(({ name, of }) => everyEdit(`${name}: ${of}`, name, { verdicts, keys }, variants)),
      ],
      // A third of the edits says that everything works, not how often.
      bars: isQuick ? [] : barsOf(scores, keys),
      remarks: [
        'A test that is not green for a regression caught it; one that is red for a benign edit is a false alarm. Intervals are Clopper-Pearson, 95 %.',
        'An unproven test is not green and no false alarm: a question to a model changed, and it says so instead of guessing. Only ours knows this verdict; how often a benign edit gets it stands beside the false alarms.',
        'Every edit was run live first: a regression differs from the agent as it is in the recorded situation, a benign edit in none of three.',
        'Columns with "model asked" and vitest-evals ask a model in each run. Here it is a script that always decides alike and costs nothing; a real one does neither.',
      ],
    }
  },
}
export default bench

function layOutIn(scratch: string, name: string, modules: readonly string[]): string {
  const dir = join(scratch, name)
  mkdirSync(dir)
  layOut(dir, modules)
  return dir
}

/**
 * Runs every variant live and holds its label against what it did.
 *
 * @returns the regressions that end otherwise in the recorded situation
 * @throws RangeError when a regression shows nothing in the recorded situation, or a benign edit shows something in any
 */
async function checkTruth(project: string, variants: readonly Variant[]): Promise<ReadonlySet<string>> {
  const [list, result] = [join(project, 'wanted.json'), join(project, 'truth.json')]
  writeFileSync(list, JSON.stringify(variants.map(({ id }) => id)))
  await nodeIn(project, ['bench/catch/truth.child.ts', project, list, result])
  const seen = JSON.parse(readFileSync(result, 'utf8')) as Readonly<Record<string, Seen>>
  const ended = new Set<string>()
  for (const { id, agent, edit } of variants) {
    const [base, live] = [seen[`${agent}-00`]!, seen[id]!]
    const differs = live.runs.some((each, index) => each !== base.runs[index])
    if (edit?.isRegression && live.ending !== base.ending) ended.add(id)
    if (edit !== undefined && differs !== edit.isRegression)
      throw new RangeError(`${id}, ${edit.name}: is called ${edit.isRegression ? 'a regression' : 'benign'} and is not`)
  }
  return ended
}

/** Each column has to have said something of each variant, and that the agents as they are are right. */
function checkComplete(verdicts: Verdicts, variants: readonly Variant[]): void {
  for (const [column, of] of verdicts) {
    for (const { id, edit } of variants) {
      const verdict = of.get(id)
      if (verdict === undefined) throw new Error(`${column} has no test of ${id}`)
      if (edit === undefined && verdict.isRed) throw new Error(`${column} is red for ${id}: ${verdict.message}`)
    }
  }
}

function everyEdit(
  title: string,
  agent: string,
  { verdicts, keys }: { readonly verdicts: Verdicts; readonly keys: Keys },
  variants: readonly Variant[],
): Table {
  const rows = variants.flatMap(({ id, agent: of, edit }) => {
    if (of !== agent || edit === undefined) return []
    const marks = [...verdicts].map(([name, column]) => {
      const verdict = column.get(id)?.verdict
      // Only the cases with default settings were asked how many questions changed.
      const count = name === 'ours' ? keys.get(id) : undefined
      if (verdict === 'unproven') return count === undefined || count === 1 ? '?' : `? ${count}`
      if (edit.isRegression) return verdict === 'different' ? '✔' : '–'
      return verdict === 'different' ? '✗' : ''
    })
    return [[edit.isRegression ? 'regression' : 'benign', edit.name, ...marks]]
  })
  return {
    title: `${title} (✔ caught, ? unproven, with a number: so many changed questions, – missed, ✗ false alarm)`,
    columns: ['', 'edit', ...verdicts.keys()],
    rows,
  }
}
