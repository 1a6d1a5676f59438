import type { Case } from '../cases/index.ts'
import type { ReplayOptions } from '../match/types.ts'
import type { MatchOptions } from '../trace/types.ts'
import type { HarvestProvided } from './channel.ts'
import { type ToolsChoice, toolsOf } from './tools-choice.ts'

type Settings = HarvestProvided['settings']

/** What a case says for itself, over what the config says for all. */
export interface CaseOptions {
  readonly replay: Omit<ReplayOptions, 'signal'>
  readonly match: MatchOptions
  readonly timeoutMs: number
}

/** Puts the options of one case together: its own win, lists add up. */
export function caseOptions(kase: Case, settings: Settings, choice: ToolsChoice): CaseOptions {
  const { replay, match } = settings
  const drift = mergeDrift(replay.drift, kase.drift)
  const allow = [...(replay.allow ?? []), ...(kase.escapes?.allow ?? [])]
  const serve = kase.serve ?? replay.serve
  const tools = toolsOf(kase.tools, choice, settings.tools)
  return {
    replay: {
      ...(drift !== undefined && { drift }),
      ...(replay.redacted !== undefined && { redacted: replay.redacted }),
      ...(kase.constants !== undefined && { constants: kase.constants }),
      ...(replay.escapes !== undefined && { escapes: replay.escapes }),
      ...(allow.length > 0 && { allow }),
      ...(replay.hosts !== undefined && { hosts: replay.hosts }),
      ...(serve !== undefined && { serve }),
      ...(tools !== 'serve' && { tools }),
      ...(kase.messages !== undefined && { messages: kase.messages }),
      ...(kase.marks !== undefined && { marks: kase.marks }),
    },
    match: mergeMatch(match, kase.match),
    timeoutMs: kase.timeout ?? settings.timeoutMs,
  }
}

function mergeMatch(all: MatchOptions, own: MatchOptions | undefined): MatchOptions {
  if (own === undefined) return all
  const tools = { ...all.tools, ...own.tools }
  return { ...all, ...own, ...(Object.keys(tools).length > 0 && { tools }) }
}

/** One policy for all classes replaces everything said before it; policies by class replace class by class. */
function mergeDrift(all: ReplayOptions['drift'], own: Case['drift']): ReplayOptions['drift'] {
  if (own === undefined) return all
  return typeof own === 'object' && typeof all === 'object' ? { ...all, ...own } : own
}
