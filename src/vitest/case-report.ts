import { type Case, type CaseApproval, greenSteps, type NamedAcceptance, type ProvenChange } from '../cases/index.ts'
import { neutralLine } from '../errors/index.ts'
import { acceptedPins, changedPins, describeChanges, type GitState, pinsOf } from '../provenance/index.ts'
import { type ChangedQuestion, describeTranscoded, isGreenAt, type RunVerdict } from '../replay/index.ts'
import type { ReplayResult } from '../match/types.ts'
import { printableListed } from './listed.ts'
import type { CaseReport, ProvenQuestion, QuestionCounts } from './channel.ts'

/** What the reporter and the machines' reports get about a case that was replayed. */
export function reportOf(
  kase: Case,
  run: ReplayResult,
  git: GitState | null,
  { root, confined }: { readonly root: string; readonly confined?: CaseReport['confined'] },
): CaseReport {
  const pins = acceptedPins(kase.pins ?? pinsOf(run.tape))
  // Without git nothing is known about the commit now, and nothing is said.
  const moved = git === null ? [] : changedPins(pins, { commit: git.commit, dirty: git.dirty })
  return {
    case: kase.id,
    expect: kase.expect,
    // JSON escapes no direction mark and no command of a runner.
    tape: neutralLine(run.tape.header.id),
    agent: neutralLine(kase.agent),
    ...(pins.commit !== undefined && { commit: neutralLine(pins.commit) }),
    ...(pins.models !== undefined && { models: pins.models.map((model) => neutralLine(model)) }),
    recorded: run.comparison.recorded,
    served: run.comparison.served,
    drift: counted(run.drift.map((one) => one.class)),
    ...((run.drift.length > 0 || run.notCompared.length > 0) && {
      steps: {
        drift: stepsBy(run.drift.map((one) => [one.class, one.stepNumber])),
        notCompared: stepsBy(run.notCompared.map(({ kind, stepNumber }) => [kind, stepNumber])),
      },
    }),
    ...(run.notCompared.length > 0 && { paths: pathsBy(run.notCompared) }),
    escapes: run.escapes.length,
    ...(run.listed.length > 0 && { listed: printableListed(run.listed, root) }),
    ...(confined !== undefined && { confined }),
    ...(run.ranForReal.length > 0 && { ran: counted(run.ranForReal.map((name) => neutralLine(name))) }),
    ...(run.notCompared.length > 0 && { notCompared: counted(run.notCompared.map(({ kind }) => kind)) }),
    ...(run.transcoded.length > 0 && { transcoded: run.transcoded.map(describeTranscoded) }),
    pins:
      moved.length === 0
        ? []
        : describeChanges(moved)
            .split('\n')
            .map((line) => line.replace(/\s{2,}/g, ' ')),
  }
}

/** What became of the changed questions of a replay, in text that is safe to print. */
export function questionsOf(
  kase: Pick<Case, 'accepted'>,
  run: ReplayResult,
  { unproven, accepted, notJudged }: Pick<RunVerdict, 'unproven' | 'accepted' | 'notJudged'>,
  entries: readonly NamedAcceptance[],
  proofs: readonly ProvenChange[] = [],
): QuestionCounts {
  const asked = new Set(run.drift.map(({ key }) => key))
  // A run that did not get to its end may not have asked all there is.
  const byPeople = greenSteps(entries)
  const isProven = (question: ChangedQuestion): boolean =>
    proofs.some(({ key }) => key === question.key) && !isGreenAt(question, byPeople)
  const isWhole = run.problems.length === 0
  const obsolete = isWhole ? (kase.accepted ?? []).filter(({ key }) => !asked.has(key)) : []
  return {
    unproven: unproven.map(printable),
    accepted: accepted
      .filter((one) => !isProven(one))
      .map((question) => ({ ...printable(question), ...approvalIn(entries, question) })),
    proven: proofs.flatMap((proof) =>
      accepted.filter((one) => one.key === proof.key && isProven(one)).map((question) => provenBy(question, proof)),
    ),
    notJudged: notJudged.map(printable),
    obsolete: obsolete.map(({ key }) => key),
  }
}

function provenBy(question: ChangedQuestion, { asked, good, atLeast, model, at }: ProvenChange): ProvenQuestion {
  return { ...printable(question), asked, good, atLeast, model: neutralLine(model), at: neutralLine(at) }
}

/** Who accepted a change, and why. */
function approvalIn(entries: readonly NamedAcceptance[], question: ChangedQuestion): CaseApproval {
  const same = entries.filter(({ key }) => key === question.key)
  const { reason, by, at } = same.find((one) => isGreenAt(question, greenSteps([one]))) ?? same.at(-1) ?? {}
  return {
    ...(reason !== undefined && { reason: neutralLine(reason, 300) }),
    ...(by !== undefined && { by: neutralLine(by) }),
    ...(at !== undefined && { at: neutralLine(at) }),
  }
}

/** Without the place: its path is of this machine. */
function printable({ site: _, part, words, ...question }: ChangedQuestion): ChangedQuestion {
  return { ...question, part: neutralLine(part), words: neutralLine(words, 600) }
}

/** The numbers of the steps of each name, ascending. */
function stepsBy(
  named: readonly (readonly [name: string, step: number | undefined])[],
): Readonly<Record<string, readonly number[]>> {
  return Object.fromEntries(
    [...Map.groupBy(named, ([name]) => name)].map(([name, list]) => [
      name,
      [...new Set(list.flatMap(([, step]) => step ?? []))].sort((one, other) => one - other),
    ]),
  )
}

/** Where the values of each kind stand that were not compared, the first few. */
function pathsBy(parts: ReplayResult['notCompared']): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(
    [...Map.groupBy(parts, ({ kind }) => kind)].map(([kind, list]) => [
      kind,
      [...new Set(list.map(({ path }) => neutralLine(path, 80)))].slice(0, 10),
    ]),
  )
}

function counted(words: readonly string[]): Readonly<Record<string, number>> {
  return Object.fromEntries([...Map.groupBy(words, (word) => word)].map(([word, { length }]) => [word, length]))
}
