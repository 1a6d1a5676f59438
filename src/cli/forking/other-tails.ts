import { unansweredIn } from '../../blame/off-tape.ts'
import { otherTape } from '../../blame/other-tape.ts'
import { HarvestError } from '../../errors/index.ts'
import { stepsOf, type Tape } from '../../tape/index.ts'
import { otherRuns } from '../known-runs.ts'
import { branchTape } from './branch-tape.ts'
import { type BranchSummary, problemsOf } from './branches.ts'
import { agentOf, makeForks, type MakeOptions, type Parent } from './make.ts'

/** So many runs are tried. */
const mostTried = 8

/**
 * The first other run of the agent whose answers lead a fork to its end that left its tape: tried, for no model is asked
 * behind such a tail.
 *
 * @returns what a command finds that run by; `undefined`: none does
 */
export async function otherTail(
  parent: Parent,
  branches: readonly BranchSummary[],
  options: MakeOptions,
): Promise<string | undefined> {
  const lost = branches.find(
    ({ request: { tail }, problems }) =>
      problems.some(({ code }) => code === 'HARVEST_NOT_RECORDED') && tail.from !== 'live' && tail.from !== 'script',
  )
  if (lost?.fork === undefined) return undefined
  const asked = unansweredIn(branchTape(lost.fork.branch, parent.tape), parent.tape)
  const names = new Set(asked.flatMap((step) => (step.kind === 'exchange' ? [] : [step.name])))
  const { tail } = lost.request
  const others = otherRuns(agentOf(parent), parent.recordings, parent.tape).filter(({ file }) => {
    const tape = tail.from === 'reference' && tail.file === file ? undefined : otherTape(file, parent.tape)
    return tape !== undefined && hasTools(tape, names)
  })
  const tried = others.slice(0, mostTried)
  if (tried.length === 0) return undefined
  const requests = tried.map(({ file }) => ({ ...lost.request, tail: { from: 'reference', file } as const }))
  const { made } = await makeForks(parent, requests, options)
  return tried[made.findIndex(({ fork }) => !HarvestError.is(fork) && problemsOf(fork).length === 0)]?.name
}

function hasTools(tape: Tape, names: ReadonlySet<string>): boolean {
  const own = new Set(stepsOf(tape).flatMap((step) => (step.kind === 'exchange' ? [] : [step.name])))
  return [...names].every((name) => own.has(name))
}
