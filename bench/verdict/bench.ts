import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Bench } from '../kit/contract.ts'
import { acceptInTwoHalves } from './accept.ts'
import { verdictsInVitest, writeCases, writeTests } from './cases.ts'
import { allVariants, type Variant } from './project.ts'
import { chosen } from './random.ts'
import type { Replayed } from './replayed.ts'
import { barsOf, firstOf, type Sample, tablesOf } from './score.ts'
import { mislabelledOf, prepare, replayAll } from './steps.ts'

const bench: Bench = {
  question: 'Is a test green only when nothing was asked or done otherwise?',
  async run({ isQuick, scratch, progress }) {
    const variants = allVariants().filter(({ edit }, index) => edit === undefined || !isQuick || index % 12 === 1)
    const project = join(scratch, 'project')
    mkdirSync(project)
    progress(`${variants.length} agents are laid out and recorded`)
    await prepare(project, variants)
    progress('the truth: every edit live')
    const mislabelled = await mislabelledOf(project, variants)
    if (mislabelled.length > 0) throw new RangeError(`called otherwise than they are:\n${mislabelled.join('\n')}`)
    progress('every edit is replayed')
    const replayed = await replayAll(project, variants)
    progress('some of them in Vitest')
    const sample = await sampleInVitest(project, variants, replayed)
    const unproven = firstOf(variants).filter(
      ({ id, edit }) => edit?.kind === 'question' && replayed.get(id)?.case.verdict === 'unproven',
    )
    progress(`${unproven.length} changed questions are accepted`)
    const accepted = unproven.length > 1 ? await acceptInTwoHalves(project, unproven) : undefined
    const measured = { variants, replayed, sample, accepted }
    return {
      tables: tablesOf(measured),
      // A share of the edits says that everything works, not how often.
      bars: isQuick ? [] : barsOf(measured),
      remarks: [
        'Every edit was run live first, against a loopback world: one that changes what is asked or done differs on the wire, one that leaves every question alone does not, up to the spellings of its provider.',
        'The second list was written when the rules of the product stood, and nothing was changed after it was run. No promise is held against it.',
        'A test written by hand only calls `replay()` and asserts nothing else.',
        ...(accepted === undefined
          ? ['Nothing was accepted: no question was unproven, or there is no command for it.']
          : []),
      ],
    }
  },
}
export default bench

/** Some edits, chosen by a seed, through one `vitest run`: each as a case and as a test by hand. */
async function sampleInVitest(
  project: string,
  variants: readonly Variant[],
  replayed: ReadonlyMap<string, Replayed>,
): Promise<Sample> {
  const edited = firstOf(variants).filter(({ edit }) => edit !== undefined)
  const sample = chosen(edited, 72, 20_260_401)
  using _cases = writeCases(project, sample)
  using _tests = writeTests(project, sample)
  const { byCase, byHand } = await verdictsInVitest(project)
  const others = sample.flatMap(({ id }) => {
    const here = replayed.get(id)!
    return [
      ...(byCase.get(id) === here.case.verdict
        ? []
        : [`${id}, case: ${byCase.get(id)} in Vitest, ${here.case.verdict} here`]),
      ...(byHand.get(id) === here.hand.verdict
        ? []
        : [`${id}, by hand: ${byHand.get(id)} in Vitest, ${here.hand.verdict} here`]),
    ]
  })
  return { edits: sample.length, others }
}
