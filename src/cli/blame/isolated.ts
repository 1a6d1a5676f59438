import { passedTexts } from '../passed-limit.ts'
import type { ExpectedUse, RunLayer } from '../../blame/index.ts'
import { neutralLine, shellWord } from '../../errors/index.ts'
import { counted } from '../../errors/words.ts'
import type { ArmReport, IsolatedRun, IsolationEstimate, FailureLayer } from '../../isolate/index.ts'
import { type Screen, table } from '../../report/output.ts'
import { type CommandInput, program } from '../command.ts'
import { controlLine } from '../forking/control.ts'
import { describeInterval } from '../live.ts'
import { dirOption } from '../named-tape.ts'
import type { FoundRun } from '../find.ts'
import { type NextStep, stepAfterLimit, stepsAfterBlame } from '../next-steps.ts'
import type { Tape } from '../../tape/index.ts'
import { typedAgain } from '../typed-again.ts'
import { gradedLine } from './estimate.ts'
import { dollars, gradingText } from './print.ts'
import { stepsToModels } from './to-models.ts'
import { confidenceOf, noClaim } from './verdict.ts'

/** Prints which layer triggers a failure, and the runs that say so. */
export function printIsolated(isolated: IsolatedRun, screen: Screen): void {
  const { verdict, arms, recorded, differs, gradedBy, delta, minEffect, methods, spent } = isolated
  const [first, ...more] = verdictLines(isolated)
  screen.line(screen.paint('bold', first ?? ''))
  for (const line of more) screen.line(line)
  screen.line()
  const head = ['other than on the tape', 'fails', '95 %', 'model calls', 'cost', 'says'].map((cell) =>
    screen.paint('dim', cell),
  )
  const control = ['nothing (control)', '1 of 1', 'exact', '0', '$0', recorded]
  screen.line(table([head, control, ...arms.map((arm) => rowOf(arm, isolated.timing))], [3, 4]))
  screen.line()
  const dim = (line: string): void => screen.line(screen.paint('dim', line))
  if (differs !== undefined) dim(controlLine(differs))
  dim(
    `graded by ${neutralLine(gradedBy, 200)}; the ${differs === undefined ? 'recorded run' : 'unchanged replay'}: ${recorded}`,
  )
  dim(`confidence ${confidenceOf(delta)}, minimum effect ${minEffect}; claims: ${methods['verdict'] ?? ''}`)
  dim(`intervals: ${methods['interval'] ?? ''}`)
  const { forks, modelCalls, costUsd } = spent.now
  const earlier = spent.reused.forks === 0 ? '' : `; ${spent.reused.forks} forks of earlier sessions`
  dim(
    `${counted(forks, 'fork')}, ${counted(modelCalls, 'model call')}, ${dollars(modelCalls === 0 ? 0 : costUsd)}${earlier}`,
  )
  const { limitPassed: passed } = isolated
  if (passed !== undefined) for (const line of passedTexts(passed.by, passed.grade)) dim(line)
  if (verdict.kind === 'found' && verdict.layers.includes('code'))
    dim('random numbers and ids are as recorded in every run, and the environment is as it is now')
}

/** Prints which arms would be made, and what they are expected to cost. */
export function printIsolationEstimate(estimate: IsolationEstimate, screen: Screen): void {
  const { arms, stays, high, realTools, reused, grading } = estimate
  screen.line(gradedLine(estimate))
  screen.line()
  const head = ['other than on the tape', 'runs', 'model calls', 'cost'].map((cell) => screen.paint('dim', cell))
  const rows = arms.map(({ varied, stays: use, because }) =>
    use === undefined ? [layersOf(varied), '', '', because ?? ''] : useRow(layersOf(varied), use),
  )
  const sums = [useRow('all, if it is the code', stays), useRow('at most', high)]
  screen.line(table([head, ...rows, ...sums], [1, 2]))
  screen.line()
  if (realTools > 0)
    screen.line(
      `tools run for real, with its side effects, in up to ${realTools} runs, and in the others where the tape has no answer`,
    )
  if (reused > 0)
    screen.line(`${reused} forks of earlier sessions are there: those that are asked for again are counted`)
  screen.line(grading === undefined ? 'nothing was spent' : `spent: ${gradingText(grading)}`)
}

function useRow(name: string, { forks, modelCalls, costUsd }: ExpectedUse): readonly string[] {
  return [name, `${forks}`, `${modelCalls}`, dollars(costUsd)]
}

function verdictLines(isolated: IsolatedRun): readonly string[] {
  const { verdict, neverSeen, arms } = isolated
  if (neverSeen !== undefined)
    return noClaim(
      isolated,
      arms.reduce((sum, { runs }) => sum + runs, 0),
    )
  if (verdict.kind === 'unresolved')
    return [
      `Not resolved: ${verdict.open.join(', ')} ${verdict.open.length === 1 ? 'is' : 'are'} still possible.`,
      neutralLine(verdict.because, 200),
    ]
  const said = verdict.layers.map((layer) => saidOf(layer, isolated))
  if (said.length === 1) return [`${verdict.layers[0]}: ${said[0]}`]
  return [`${verdict.layers.join(' and ')}: either of them cures it`, ...said]
}

function saidOf(layer: FailureLayer, { timing, minEffect }: IsolatedRun): string {
  switch (layer) {
    case 'code':
      // A model that is right in fewer runs than that looks like this as well.
      return `with other answers of model and tools, another ${layerNames(timing).timing} fewer than ${(100 * minEffect).toFixed(0)} % of runs end well: its code, its prompt, a random number or id it drew, ${timing.includes('clock') ? 'a date more than a day away, ' : ''}or its environment decides, or a model that is nearly always wrong`
    case 'sampling':
      return 'asked again, the model decides otherwise, and the failure goes away'
    case 'data':
      return 'with other answers of tools the failure goes away'
    case 'timing':
      return 'with another clock or order of answers the failure goes away'
  }
}

/** No run has a clock that is further ahead or behind: what only another month shows is called code. */
function layerNames(timing: IsolatedRun['timing']): Readonly<Record<RunLayer, string>> {
  const clock = timing.includes('clock') ? 'clock (within a day)' : 'clock'
  return { model: 'model', tools: 'tools', timing: `${clock} and order` }
}

function layersOf(varied: readonly RunLayer[], timing: IsolatedRun['timing'] = []): string {
  const names = layerNames(timing)
  return varied.map((layer) => names[layer]).join(' and ')
}

function rowOf(arm: ArmReport, timing: IsolatedRun['timing']) {
  const { varied, says, runs, failed, interval, modelCalls, costUsd, because, ungraded } = arm
  const name = layersOf(varied, timing)
  if (says === 'fixed' || says === 'not tried') return [name, '', '', '', '', because ?? says]
  const lost = ungraded === 0 ? '' : `, ${ungraded} not judged`
  return [
    name,
    `${failed} of ${runs}`,
    interval === undefined ? '' : describeInterval(interval),
    `${modelCalls}`,
    dollars(costUsd),
    `${says === 'unknown' ? neutralLine(because ?? says, 60) : says}${lost}`,
  ]
}

/** The clock of isolate stays near: what another month decides shows in a fork, which asks no model where the same is asked. */
function stepToOtherDate(tape: string, dir: string, given: CommandInput): NextStep {
  const ok = given
    .values('ok')
    .map((value) => ` --ok ${shellWord(value)}`)
    .join('')
  const bad = given
    .values('bad')
    .map((value) => ` --bad ${shellWord(value)}`)
    .join('')
  const agent = given.value('agent')
  const other = agent === undefined ? '' : ` --continue-with ${shellWord(agent)}`
  const command = `${program} fork ${tape} --step 1 --clock -90d${ok}${bad}${other}${dir}`
  return { about: 'to see whether the date decides, with another one', command }
}

/** The command that looks into the layer. */
export function stepsAfterIsolate(
  { verdict, timing, arms, minEffect, recorded, ...isolated }: IsolatedRun,
  { found, tape: parent }: { readonly found: FoundRun; readonly tape: Tape },
  given: CommandInput,
): readonly NextStep[] {
  const tape = shellWord(given.args[0] ?? '')
  const dir = dirOption(given.value('dir'))
  // The condition may be mistyped: what it grades is no next step.
  if (isolated.neverSeen !== undefined) return []
  if (verdict.kind === 'unresolved') {
    const isHeld = verdict.open.includes('data') && given.value('tools') !== 'live'
    const isLost = arms.some(({ says, ungraded }) => says === 'unknown' && ungraded > 0)
    const toModels = stepsToModels(
      arms.flatMap(({ because = '' }) => because),
      parent,
    )
    if (toModels.length > 0) return toModels
    if (!isHeld && isolated.stoppedBy === undefined)
      return isLost
        ? [{ about: 'once runs can be graded', command: typedAgain({ 'no-cache': true }) }]
        : largerEffect(minEffect)
    return isHeld
      ? [
          {
            about: 'to run tools for real, with their side effects',
            command: typedAgain({
              tools: 'live',
              ...(isolated.stoppedBy === 'costUsd' ? { 'max-cost': undefined } : {}),
              ...(isolated.stoppedBy === 'forks' ? { 'max-runs': undefined } : {}),
              ...(isolated.stoppedBy === 'timeMs' ? { 'max-time': undefined } : {}),
            }),
          },
        ]
      : stepAfterLimit(isolated, given)
  }
  return verdict.layers.flatMap((layer): readonly NextStep[] => {
    switch (layer) {
      case 'code':
        return [
          { about: 'to see what the code depends on', command: `${program} doctor ${tape}${dir}` },
          ...(timing.includes('clock') ? [stepToOtherDate(tape, dir, given)] : []),
          ...stepsAfterBlame(found, { recorded, close: parent.close }, given),
        ]
      case 'sampling':
        return [{ about: 'to find the decision', command: typedAgain({ isolate: false }) }]
      case 'data':
        return [{ about: 'to find the answer', command: typedAgain({ repairs: true }) }]
      case 'timing': {
        // What it does instead is not on the tape: that it does something else is what is looked for.
        const faults = `--faults ${shellWord(timing.join(','))} --fail trace,outcome,off-tape`
        return [{ about: 'to find the delay', command: `${program} chaos ${tape} ${faults}${agentOf(given)}${dir}` }]
      }
    }
  })
}

/** Nothing, above the largest that can be asked for. */
function largerEffect(minEffect: number): readonly NextStep[] {
  if (minEffect >= 0.9) return []
  return [
    {
      about: 'to look for a larger effect, which fewer runs show',
      command: typedAgain({ 'min-effect': `${Math.min(0.9, 2 * minEffect)}` }),
    },
  ]
}

function agentOf(given: CommandInput): string {
  const agent = given.value('agent')
  return agent === undefined ? '' : ` --agent ${shellWord(agent)}`
}
