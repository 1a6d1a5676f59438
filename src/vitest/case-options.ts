import type { Case } from '../cases/index.ts'
import { HarvestError, neutralJson, neutralLine } from '../errors/index.ts'
import { mergeDrift } from '../match/drift-policy.ts'
import type { ReplayOptions } from '../match/types.ts'
import { isListed } from '../playback/allow.ts'
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

/**
 * Puts the options of one case together: its own win, but for what lets an agent out.
 *
 * @throws HarvestError `HARVEST_ESCAPE_CONSENT` for a case that allows more than the config does
 */
export function caseOptions(kase: Case, settings: Settings, choice: ToolsChoice): CaseOptions {
  const { replay, match } = settings
  requireListed(kase, replay)
  const drift = mergeDrift(replay.drift, kase.drift)
  const serve = kase.serve ?? replay.serve
  const tools = toolsOf(kase.tools, choice, settings.tools)
  return {
    replay: {
      ...(drift !== undefined && { drift }),
      ...(replay.redacted !== undefined && { redacted: replay.redacted }),
      ...(kase.constants !== undefined && { constants: kase.constants }),
      ...(replay.escapes !== undefined && { escapes: replay.escapes }),
      ...(replay.allow !== undefined && { allow: replay.allow }),
      ...(replay.hosts !== undefined && { hosts: replay.hosts }),
      ...(serve !== undefined && { serve }),
      ...(tools !== 'serve' && { tools }),
      ...(kase.messages !== undefined && { messages: kase.messages }),
      ...(kase.marks !== undefined && { marks: kase.marks }),
      ...(kase.states !== undefined && { states: kase.states }),
    },
    match: mergeMatch(match, kase.match),
    timeoutMs: kase.timeout ?? settings.timeoutMs,
  }
}

/** A case is data, of whoever can write to its folder: it can tell what its agent needs, not open it. */
function requireListed({ id, escapes: { allow } = { allow: [] } }: Case, config: Settings['replay']): void {
  if (config.escapes === 'report') return
  const listed = config.allow ?? []
  const open = allow.filter((escape) => !listed.some((pattern) => isListed(pattern, escape)))
  if (open.length === 0) return
  const lines = open.slice(0, shown).map((escape) => `  ${neutralLine(escape, 300)}`)
  throw new HarvestError('HARVEST_ESCAPE_CONSENT', {
    what: 'Refused to run a case that allows real I/O by itself',
    where: { case: id },
    detail: [...lines, ...(open.length > shown ? [`  … and ${open.length - shown} more`] : [])].join('\n'),
    why: 'A case is data. What an agent may reach is decided in the Vitest config alone.',
    fix: [
      `after a review, in harvest() of the Vitest config: allow: [${[...new Set([...listed, ...open])].map(literal).join(', ')}]`,
      'otherwise remove `escapes` from the case',
    ],
  })
}

const shown = 20

/** A text as code, which is pasted: nothing in it ends it. */
function literal(text: string): string {
  return `'${neutralJson(JSON.stringify(text)).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
}

function mergeMatch(all: MatchOptions, own: MatchOptions | undefined): MatchOptions {
  if (own === undefined) return all
  const tools = { ...all.tools, ...own.tools }
  return { ...all, ...own, ...(Object.keys(tools).length > 0 && { tools }) }
}
