import { resolve } from 'node:path'
import { HarvestError, neutralLine, shellWord } from '../errors/index.ts'
import { withoutSteps } from '../errors/steps.ts'
import type { FinishedJob } from '../jobs/index.ts'
import { type ChangedQuestion, type Escape, inexactParts, toExcludeStates } from '../replay/index.ts'
import type { Promotion } from '../recordings/index.ts'
import { toRecordedCode } from '../provenance/index.ts'
import { outcomeNotCompared, parseTape } from '../tape/index.ts'
import { cutsOf, partialText } from '../tape/partial.ts'
import { inputHint, lacksInput } from './input-hint.ts'
import { runJobs } from '../jobs/run.ts'
import { countsByKind, driftLine, type ReplayChildReport, verdictLine } from './report.ts'

/** How the replay of a tape went that is about to become a case. */
export interface Preflight {
  /** The case would be green. */
  readonly isGreen: boolean
  /** Every byte, read and answer was the recorded one, and none was left out of the tape. */
  readonly isExact: boolean
  /** `partial: …`, of a tape from which some were left out. */
  readonly partial?: string
  readonly run: FinishedJob
}

/**
 * Replays a tape once, as its case will, before anything is written.
 *
 * @throws HarvestError `HARVEST_AGENT_UNKNOWN` and anything else that keeps the agent from running
 */
export async function runPreflight({ source, content, caseFile, text, bytes }: Promotion): Promise<Preflight> {
  const [run] = await runJobs([{ tape: resolve(source), case: { file: resolve(caseFile), text } }])
  if (run === undefined || HarvestError.is(run)) throw run ?? new TypeError(`no answer for ${content.id}`)
  const cuts = cutsOf(parseTape(bytes.toString(), source))
  const isWhole = cuts.length === 0
  return {
    isGreen: run.verdict?.isGreen === true,
    isExact: isWhole && isExact(run),
    ...(isWhole ? {} : { partial: partialText(cuts) }),
    run,
  }
}

/** Whether every byte, read and answer of a replay was the recorded one. */
export function isExact({ report }: FinishedJob): boolean {
  return report.problems.length === 0 && inexactParts(report).length === 0
}

/** By its case, in the shape that every command writes. */
export function writtenVerdict({ run: { verdict, report } }: Preflight): ReplayChildReport['verdict'] {
  const { verdict: name, differences, unproven, accepted, notJudged } = verdict ?? report.verdict
  return { verdict: name, differences, unproven, accepted, notJudged }
}

/** In words: how much was as recorded, and the verdict. */
export function preflightLines(
  size: string,
  { id, expect }: Promotion['content'],
  preflight: Preflight,
): readonly string[] {
  const { drift, notCompared, comparison } = preflight.run.report
  const outcome = comparison.outcomeEqual === null ? `; outcome: ${outcomeNotCompared}` : ''
  const held = preflight.isExact ? 'replayed bit for bit' : `replayed; drift: ${driftLine(drift) || 'none'}${outcome}`
  const left = preflight.partial === undefined ? held : `${held}; ${preflight.partial}`
  const how =
    notCompared.length === 0 ? left : `${left}; not compared: ${countsByKind(notCompared.map(({ kind }) => kind))}`
  return [
    `${size}, ${how}${expect === 'fail' ? ': the known bad run, reproduced' : ''}`,
    verdictLine(id, { verdict: writtenVerdict(preflight) }, []),
  ]
}

/** The refusal of a case that would be red from the first day. */
export async function wouldBeRed({ run }: Preflight, promotion: Promotion): Promise<HarvestError> {
  const { source, bytes, content } = promotion
  const escape = run.report.escapes.find(({ allowed }) => !allowed)
  const verdict = run.verdict
  if (escape !== undefined && verdict?.isGreen === false && verdict.code === 'HARVEST_ESCAPE')
    return wouldEscape(escape, source, content.agent)
  const said = verdict === undefined || verdict.isGreen ? '' : withoutSteps(verdict.message)
  const code = await toRecordedCode(process.cwd(), content.pins?.commit, promotion.recordings)
  const withRecorded = code === undefined ? [] : [`to promote with the recorded code: ${code}`]
  if (verdict?.verdict === 'unproven') return wouldBeUnproven(said, verdict.unproven, promotion, withRecorded)
  return new HarvestError('HARVEST_PROMOTE_DIVERGED', {
    what: 'The replay of this tape differs from the recording; no case was written',
    where: { tape: source, agent: content.agent, verdict: 'different' },
    detail: said.replace(/^/gm, '  '),
    why: 'The agent is not the recorded one, or it reads something that is not on the tape.',
    fix: [
      ...(lacksInput(parseTape(bytes.toString(), source).header) ? [`the tape has no input: ${inputHint}`] : []),
      ...withRecorded,
      `to find what differs: npx vitest-harvest doctor ${shellWord(source)}`,
      ...(verdict?.differences.every((one) => one.code === 'HARVEST_STATES') === true ? [toExcludeStates] : []),
      'to write the red case anyway: --unverified',
    ],
  })
}

/** The agent is another one only in what it asks its models: their recorded answers say nothing about that. */
function wouldBeUnproven(
  said: string,
  unproven: readonly ChangedQuestion[],
  { source: tape, content: { agent } }: Promotion,
  withRecorded: readonly string[],
): HarvestError {
  const parts = [...new Set(unproven.map(({ part }) => neutralLine(part)))]
  const named = parts.slice(0, 3).join(', ') + (parts.length > 3 ? ', …' : '')
  return new HarvestError('HARVEST_PROMOTE_DIVERGED', {
    what: `A question to a model changed since this run was recorded (${named}); no case was written`,
    where: { tape, agent, verdict: 'unproven', code: 'HARVEST_UNPROVEN' },
    detail: said.replace(/^/gm, '  '),
    why: 'The recorded answers prove nothing about a changed question, so the case would be red.',
    fix: [
      ...withRecorded,
      'to promote a run of the current code: record it again',
      'to write the red case, where the change can be accepted: --unverified',
    ],
  })
}

/** The case would be red because the agent does something the recorder cannot see: that is no other agent. */
function wouldEscape({ kind, target, site }: Escape, tape: string, agent: string): HarvestError {
  const reached = `${kind} ${target}`
  return new HarvestError('HARVEST_PROMOTE_DIVERGED', {
    what: `Blocked real I/O in the replay of this tape: ${neutralLine(reached)}; no case was written`,
    where: { tape, agent, ...(site === undefined ? {} : { at: site }), code: 'HARVEST_ESCAPE' },
    why: 'The recorder could not see it, so the tape has no answer and the case would be red.',
    fix: [
      "wrap the function that does it in tool(), retriever() or value() from 'vitest-harvest/record', and record again",
      `if a test may reach it: allow: ['${neutralLine(reached)}'] in harvest() of the Vitest config`,
      'to write the red case anyway: --unverified',
    ],
  })
}
