import { HarvestError, neutralLine } from '../errors/index.ts'
import { type ChangedQuestion, stepsText, unprovenError } from '../replay/index.ts'
import type { Tape } from '../tape/index.ts'

/** Why today's code, with nothing changed, is nothing to compare with. */
export type ControlRefusal = { readonly problem: HarvestError } | { readonly unproven: readonly ChangedQuestion[] }

/** Whose control it was. */
export interface ControlSubject {
  readonly tape: Tape
  /** Absent: the tape belongs to no case. */
  readonly caseId?: string
}

/** The unchanged run left its tape, or asked a model what nobody accepted. */
export function controlRefused(about: ControlSubject, why: ControlRefusal): HarvestError {
  return 'problem' in why ? otherRun(about, why.problem) : otherQuestion(about, why.unproven)
}

const because = 'A what-if is compared with an unchanged run of the same code.'

function otherRun(about: ControlSubject, problem: HarvestError): HarvestError {
  const { facts } = problem
  const name = nameOf(about)
  return new HarvestError(
    'HARVEST_CONTROL',
    {
      what: 'The unchanged agent leaves its tape: no change can be judged',
      where: { ...whereOf(about), ...(facts.where?.['at'] === undefined ? {} : { at: facts.where['at'] }) },
      detail: [facts.what, facts.detail].filter((text) => text !== undefined).join('\n'),
      why: because,
      fix: [
        `to see the whole difference: npx harvest show ${name} --replay`,
        'if the agent is meant to do this now, record the run again',
      ],
    },
    { cause: problem },
  )
}

function otherQuestion(about: ControlSubject, questions: readonly ChangedQuestion[]): HarvestError {
  const { facts } = unprovenError(questions, { tape: about.tape.header.id })
  const name = nameOf(about)
  const [first] = questions
  return new HarvestError('HARVEST_CONTROL', {
    what: 'The question to a model changed: no change can be judged',
    where: { ...whereOf(about), ...(facts.where?.['at'] === undefined ? {} : { at: facts.where['at'] }) },
    detail: questions
      .slice(0, 5)
      .map(({ part, steps, words }) => `  ${neutralLine(part)}, ${stepsText(steps)}: ${words}`)
      .join('\n'),
    why: because,
    fix:
      about.caseId === undefined
        ? [
            `accept it in a case of this run: npx harvest promote ${name} --as <id> --unverified, then npx harvest accept <id> --reason "…"`,
            `to exclude such changes from the verdict: drift: { ${first?.class ?? 'instructions'}: 'report' }`,
          ]
        : [
            `if you looked and it is meant: npx harvest accept ${name} --reason "…"`,
            `to ask the model: npx harvest test ${name} --prove`,
          ],
  })
}

function whereOf({ tape, caseId }: ControlSubject): Readonly<Record<string, string>> {
  return caseId === undefined ? { tape: tape.header.id } : { case: caseId }
}

function nameOf({ tape, caseId }: ControlSubject): string {
  return neutralLine(caseId ?? tape.header.id, 80)
}
