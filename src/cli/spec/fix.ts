import type { CommandSpec } from '../command.ts'
import {
  agentOption,
  anyNameOption,
  costOptions,
  dirOption,
  jsonOption,
  liveGradingOptions,
  timeoutOption,
} from './common.ts'

export const fixSpec: CommandSpec = {
  name: 'fix',
  group: 'Test',
  page: 'fix',
  args: '<case>',
  about: 'Turn a fixed incident into a green case with a new tape',
  options: [
    ...liveGradingOptions,
    agentOption,
    anyNameOption,
    { flag: '--model-server <url>', about: 'Server of the live models; needs --live' },
    ...costOptions,
    { flag: '--runs <n>', about: 'Live runs of the fixed agent [3]' },
    timeoutOption,
    { flag: '--without <revision>', about: 'Revision without the fix; none: skip the red check [from git]' },
    { flag: '--lesson-wrong <text>', about: 'What went wrong in this run' },
    { flag: '--lesson-right <text>', about: 'What would have been right' },
    { flag: '--yes', about: 'Write the case if green with and red without the fix' },
    { flag: '--no-cache', about: 'Do not reuse forks of earlier sessions' },
    dirOption,
    jsonOption,
  ],
  examples: [
    'fix refund-100x --ok "refund(amount: 25)"',
    'fix refund-100x --live --runs 5 --max-cost 0.50',
    'fix refund-100x --live --tools ./test/tools.ts --yes',
  ],
}
