import { HarvestError, neutralLine, shellWord } from '../errors/index.ts'
import {
  type ChangedQuestion,
  describeEnding,
  reportPolicy,
  stepsText,
  stepsToAccept,
  unprovenError,
} from '../replay/index.ts'
import type { ReplayResult } from '../match/types.ts'
import type { Tape } from '../tape/index.ts'

/** Why today's code, with nothing changed, is nothing to compare with. */
export type ControlRefusal =
  | { readonly problem: HarvestError; readonly run: ReplayResult }
  | {
      readonly unproven: readonly ChangedQuestion[]
      /** What its case does not accept besides these questions: then no acceptance reaches them. */
      readonly difference: HarvestError | undefined
    }

/** Whose control it was. */
export interface ControlSubject {
  readonly tape: Tape
  /** Absent: the tape belongs to no case. */
  readonly caseId?: string
  /** The case is of a run that went wrong: other code may be its fix. */
  readonly isKnownBad?: boolean
  /** The agent that was named, and the one that made the run: what differs is hardly a change of its code. */
  readonly otherAgent?: { readonly named: string; readonly recorded: string }
}

/** The unchanged run left its tape, or asked a model a question that was not accepted. */
export function controlRefused(about: ControlSubject, why: ControlRefusal): HarvestError {
  return 'problem' in why ? otherRun(about, why.problem, why.run) : otherQuestion(about, why)
}

/** The unchanged run took longer than one run may. */
export function controlTooSlow(about: ControlSubject, timeoutMs: number, cause: unknown): HarvestError {
  return new HarvestError(
    'HARVEST_CONTROL',
    {
      what: 'The control run had not ended when its time was up',
      where: { ...whereOf(about), limit: `${timeoutMs} ms` },
      why: `${because} The limit of one run holds for it, too.`,
      fix: [`with more time: --timeout ${Math.max(60, Math.ceil(timeoutMs / 200))}s`],
    },
    { cause },
  )
}

const because = 'A what-if is compared with an unchanged run of the same code.'

function otherRun(about: ControlSubject, problem: HarvestError, run: ReplayResult): HarvestError {
  const { facts } = problem
  const { tape, outcome } = run
  // An agent without its key leaves all steps out: why it threw says more than which those are.
  const hasThrown = outcome.status === 'threw' && tape.close?.outcome.status !== 'threw'
  const thrown =
    hasThrown && !HarvestError.is(outcome.error) ? [`The agent ${neutralLine(describeEnding(run), 200)}`] : []
  const name = nameOf(about)
  return new HarvestError(
    'HARVEST_CONTROL',
    {
      what: 'The control run differs from its tape, so no change can be judged',
      where: { ...whereOf(about), ...(facts.where?.['at'] === undefined ? {} : { at: facts.where['at'] }) },
      detail: [...thrown, facts.what, facts.detail].filter((text) => text !== undefined).join('\n'),
      why: because,
      fix: about.otherAgent
        ? toOwnAgent(about, about.otherAgent)
        : [
            ...toFix(about),
            `to see the whole difference: npx vitest-harvest show ${name} --replay`,
            ...(thrown.length > 0
              ? ['once its key and environment are right: the same command']
              : [toDoctor(name), 'if the agent is meant to do this now, record the run again']),
          ],
    },
    { cause: problem },
  )
}

function otherQuestion(
  about: ControlSubject,
  { unproven: questions, difference }: Extract<ControlRefusal, { readonly unproven: unknown }>,
): HarvestError {
  const { facts } = unprovenError(questions, { tape: about.tape.header.id })
  const name = nameOf(about)
  return new HarvestError('HARVEST_CONTROL', {
    what: `The question to a model changed${difference === undefined ? '' : ', and its case is different'}: no change can be judged`,
    where: { ...whereOf(about), ...(facts.where?.['at'] === undefined ? {} : { at: facts.where['at'] }) },
    detail: [
      ...questions.slice(0, 5).map(({ part, steps, words }) => `  ${neutralLine(part)}, ${stepsText(steps)}: ${words}`),
      ...(difference === undefined ? [] : [`  ${difference.facts.what}`]),
    ].join('\n'),
    why: because,
    fix: about.otherAgent
      ? toOwnAgent(about, about.otherAgent)
      : [
          ...toFix(about),
          ...(about.caseId === undefined
            ? [
                ...stepsToAccept(about.tape, ' and name the case instead of the tape'),
                `to exclude such changes from the verdict: ${reportPolicy(questions)}`,
              ]
            : difference !== undefined
              ? toAcceptBoth(difference, name)
              : [
                  `if the change is intended: npx vitest-harvest accept ${name} --reason "…"`,
                  `to ask the model: npx vitest-harvest test ${name} --prove`,
                ]),
          toDoctor(name),
        ],
  })
}

/** The other next steps are about a change of the code that made the run. */
function toOwnAgent(
  { tape }: ControlSubject,
  { recorded }: NonNullable<ControlSubject['otherAgent']>,
): readonly string[] {
  return [
    `to run ${neutralLine(recorded, 60)}, whose run it is: the same command, without --agent`,
    `to see the whole difference: npx vitest-harvest replay ${shellWord(tape.header.id)}`,
  ]
}

/** @param name - as a shell reads it */
function toDoctor(name: string): string {
  return `if its code did not change, to find what its runs depend on: npx vitest-harvest doctor ${name}`
}

function toFix(about: ControlSubject): readonly string[] {
  return about.isKnownBad === true ? [`if its agent is fixed: npx vitest-harvest fix ${nameOf(about)}`] : []
}

/** Where an update of the case accepts the difference, it accepts the questions as well. */
function toAcceptBoth({ facts: { fix = [] } }: HarvestError, name: string): readonly string[] {
  if (!fix.some((line) => line.includes('--update-recordings'))) return fix
  return [
    `to see the difference: npx vitest-harvest test ${name}`,
    `if both are intended: npx vitest-harvest test ${name} --update-recordings --reason "…"`,
  ]
}

function whereOf({ tape, caseId, otherAgent }: ControlSubject): Readonly<Record<string, string>> {
  return {
    ...(caseId === undefined ? { tape: tape.header.id } : { case: caseId }),
    ...(otherAgent === undefined
      ? {}
      : { agent: neutralLine(`${otherAgent.named}, but the run is of ${otherAgent.recorded}`, 160) }),
  }
}

function nameOf({ tape, caseId }: ControlSubject): string {
  return shellWord(caseId ?? tape.header.id)
}
