import { readFileSync } from 'node:fs'
import path from 'node:path'
import { HarvestError } from '../errors/index.ts'
import type { ToolReach } from '../replay/tools.ts'
import type { ToolsMode } from '../match/types.ts'
import { surveyRecordings } from './survey.ts'
import { type ToolsChoice, toolsOf, unapproved } from './tools-choice.ts'

/**
 * The tools whose code the cases of a folder would run and without a yes, with what all their tapes show
 * of them. Reads no tape unless some case is to run tools.
 *
 * @param recordings - absolute path
 */
export async function surveyTools(
  recordings: string,
  choice: ToolsChoice,
  config: ToolsMode,
): Promise<readonly ToolReach[]> {
  if (choice.yes || choice.asked === 'serve') return []
  const isAsked = choice.asked !== undefined || config !== 'serve'
  const files = surveyRecordings(recordings)
    .cases.map((file) => path.join(recordings, file))
    .filter((file) => isAsked || /^tools:/m.test(readFileSync(file, 'utf8')))
  if (files.length === 0) return []
  // The config process reads cases and tapes for this question only.
  const [{ loadCase, requireTapeFile }, { readTape }, { reachOf }] = await Promise.all([
    import('../cases/index.ts'),
    import('../tape/index.ts'),
    import('../replay/tools.ts'),
  ])
  const found = new Map<string, ToolReach>()
  for (const file of files) {
    try {
      const kase = loadCase(file)
      const reach = reachOf(readTape(requireTapeFile(kase)), toolsOf(kase.tools, choice, config))
      for (const one of unapproved(reach, choice, config)) {
        const asks = [...new Set([...(found.get(one.name)?.asks ?? []), ...one.asks])].sort()
        found.set(one.name, { ...one, asks })
      }
    } catch (error) {
      // Its own test is red for what is wrong with it, and runs nothing.
      if (!HarvestError.is(error)) throw error
    }
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}
