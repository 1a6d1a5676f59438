import { installReplay } from '../replay/index.ts'
import { heedModules } from '../seam/intercept/index.ts'
import { agentModules, watchNativeImports } from './agent-modules.ts'
import { installMatchers } from './matchers.ts'
import { nameSetUpFiles } from './set-up-files.ts'
import { watchExpectations, watchTests } from './under-way.ts'

/**
 * The entry point for hand-written tests: `replay`, `record`, and what `expect` can say about a replay.
 *
 * Import it before the agent: some clients take hold of `fetch` while they are loaded.
 *
 * @module
 */
export type { ReplayOptions, ReplayResult } from '../match/types.ts'
export type { HarvestMatchers } from './matchers.ts'
export { type RecordedTest, type RecordOptions, record } from './record-run.ts'
export { type HandReplayOptions, replay } from './replay-tape.ts'
export type { JudgedReplay } from '../replay/index.ts'
export { validateBlame, type ValidateBlameOptions } from './validate-blame.ts'
export type { OwnAgentReport, OwnRun } from '../validation/harness/own-agent.ts'

await installReplay()
watchNativeImports()
heedModules(agentModules)
nameSetUpFiles()
installMatchers()
watchExpectations()
watchTests()
