import { readFileSync } from 'node:fs'
import {
  type Case,
  type CaseApproval,
  type CaseChanges,
  parseCase,
  shapeOfError,
  throwing,
  updateCase,
} from '../cases/index.ts'
import { type CasePins, type GitState, pinsOf } from '../provenance/index.ts'
import type { ReplayResult } from '../replay/types.ts'
import { encodeValue } from '../tape/index.ts'
import { type MatchOptions, traceOf } from '../trace/index.ts'
import { type CaseUpdate, updateArtifact } from './channel.ts'
import type { UpdateMode } from './update-mode.ts'
import { type Difference, judge } from './verdict.ts'
import { textHash } from './write-updates.ts'

/** What is needed to accept what a replay did. */
export interface Acceptance {
  readonly kase: Case
  readonly run: ReplayResult
  readonly match: MatchOptions
  readonly open: readonly Difference[]
  readonly mode: UpdateMode
  readonly git: GitState | null
  /** Who accepts it and why; a first baseline needs nobody. */
  readonly approval: CaseApproval | undefined
}

/**
 * The case as it should read after an update, or `undefined` when this mode accepts no such difference.
 *
 * `new` writes a baseline where there is none and nothing else. `all` also accepts another trace and outcome, never another
 * ending (the tape would contradict the case), and never for `expect: fail`: new behaviour there is for a person to see.
 */
export function acceptRun(acceptance: Acceptance): CaseUpdate | undefined {
  const { kase, run, match, open, mode } = acceptance
  if (!open.every(({ aspect }) => accepts(mode, aspect, kase))) return undefined
  const before = readFileSync(kase.file, 'utf8')
  const text = updateCase(before, changesFor(acceptance), kase.file)
  // An update after which the case is still red would be written again and again.
  if (!judge(parseCase(text, kase.file), run, match).isGreen) return undefined
  return { type: updateArtifact, file: kase.file, before: textHash(before), text }
}

function accepts(mode: UpdateMode, aspect: Difference['aspect'], { expect }: Case): boolean {
  switch (aspect) {
    case 'baseline':
      return mode !== 'none'
    case 'trace':
    case 'outcome':
      return mode === 'all' && expect === 'pass'
    case 'ending':
      return false
  }
}

function changesFor({ kase, run, open, git, mode, approval }: Acceptance): CaseChanges {
  const has = (aspect: Difference['aspect']) => open.some((difference) => difference.aspect === aspect)
  const { outcome } = run
  const ended =
    outcome.status === 'returned' ? encodeValue(outcome.value) : throwing(shapeOfError(encodeValue(outcome.error)))
  return {
    ...((has('trace') || has('baseline')) && { baseline: traceOf(run.events) }),
    ...(has('outcome') && { outcome: ended }),
    ...(mode === 'all' && kase.pins !== undefined && { pins: pinsNow(kase.pins, run, git) }),
    // As a whole: who approved the last update did not approve this one.
    ...(approval !== undefined && { approved: approval }),
  }
}

/** The pins of the code that ran: what git says, and what the agent asked its models in this replay. */
function pinsNow(recorded: CasePins, run: ReplayResult, git: GitState | null): CasePins {
  const { models, prompt, tools } = pinsOf({ ...run.tape, events: run.events })
  return {
    ...recorded,
    ...(git?.commit !== undefined && { commit: git.commit, dirty: git.dirty }),
    ...(models !== undefined && { models }),
    ...(prompt !== undefined && { prompt }),
    ...(tools !== undefined && { tools }),
  }
}
