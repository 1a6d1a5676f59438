import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Bench, Table } from '../kit/contract.ts'
import { subjects } from './agents/index.ts'
import { ours } from './columns/ours.ts'
import { evals, rivals } from './columns/rivals.ts'
import { nodeIn, type Verdicts } from './columns/run.ts'
import { allVariants, layOut, ownModules, type Variant } from './project.ts'
import { barsOf, score, summary } from './score.ts'

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
    await checkTruth(project, variants)
    progress('ours')
    const verdicts: Verdicts = await ours(project, variants)
    progress('tests by hand, agentevals, Polly, nock')
    for (const [column, of] of await rivals(project, variants)) verdicts.set(column, of)
    progress('vitest-evals')
    for (const [column, of] of await evals(evalProject, variants)) verdicts.set(column, of)
    checkComplete(verdicts, variants)
    const scores = [...verdicts].map(([column, of]) => score(column, of, variants))
    return {
      tables: [
        summary(scores),
        ...subjects.map(({ name, of }) => everyEdit(`${name}: ${of}`, name, verdicts, variants)),
      ],
      // A third of the edits says that everything works, not how often.
      bars: isQuick ? [] : barsOf(scores),
      remarks: [
        'A test that is red for a regression caught it; one that is red for a benign edit is a false alarm. Intervals are Clopper-Pearson, 95 %.',
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
 * @throws RangeError when a regression shows nothing in the recorded situation, or a benign edit shows something in any
 */
async function checkTruth(project: string, variants: readonly Variant[]): Promise<void> {
  const [list, result] = [join(project, 'wanted.json'), join(project, 'truth.json')]
  writeFileSync(list, JSON.stringify(variants.map(({ id }) => id)))
  await nodeIn(project, ['bench/catch/truth.child.ts', project, list, result])
  const seen = JSON.parse(readFileSync(result, 'utf8')) as Readonly<Record<string, readonly string[]>>
  for (const { id, agent, edit } of variants) {
    const base = seen[`${agent}-00`] ?? []
    const differs = (seen[id] ?? []).some((each, index) => each !== base[index])
    if (edit !== undefined && differs !== edit.isRegression)
      throw new RangeError(`${id}, ${edit.name}: is called ${edit.isRegression ? 'a regression' : 'benign'} and is not`)
  }
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

function everyEdit(title: string, agent: string, verdicts: Verdicts, variants: readonly Variant[]): Table {
  const rows = variants.flatMap(({ id, agent: of, edit }) => {
    if (of !== agent || edit === undefined) return []
    const marks = [...verdicts.values()].map((column) => {
      const isRed = column.get(id)?.isRed === true
      if (edit.isRegression) return isRed ? '✔' : '–'
      return isRed ? '✗' : ''
    })
    return [[edit.isRegression ? 'regression' : 'benign', edit.name, ...marks]]
  })
  return { title: `${title} (✔ caught, – missed, ✗ false alarm)`, columns: ['', 'edit', ...verdicts.keys()], rows }
}
