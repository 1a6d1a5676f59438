import type { CommandSpec } from '../command.ts'
import {
  agentOption,
  costOptions,
  crossVersionOption,
  dirOption,
  gradeOptions,
  jsonOption,
  parallelOption,
  timeoutOption,
  toolsOption,
} from './common.ts'

export const locateSpec: CommandSpec = {
  name: 'locate',
  now: 'show --find',
  args: '<tape|case> <value>',
  about: 'Find where a value first appeared in a run, and which requests it went into',
  options: [dirOption, jsonOption],
  examples: ['locate refund-100x 2500', 'locate latest "paid 25 EUR" --json'],
}

export const debugSpec: CommandSpec = {
  name: 'debug',
  group: 'Debug',
  page: 'debug',
  args: '[tape|case]',
  about: 'Step through a run, in both directions',
  options: [
    { flag: '--commands <list>', short: '-x', about: 'Run these commands, separated by semicolons, and exit' },
    agentOption,
    { flag: '--module <file#export>', about: 'Agent that is not in the Vitest config' },
    { flag: '--expect-stop', about: 'Exit code 1 when continue finds no stop' },
    { flag: '--inspect', about: 'Let an editor attach while the agent is stopped in its code' },
    { flag: '--inspect-port <n>', about: 'Port of --inspect, on this machine only [9229]' },
    {
      flag: '--max-memory <MB>',
      about: 'Memory for replays that wait at steps of a long run [a quarter of what is free]',
    },
    { flag: '--mcp', about: 'Serve coding agents over stdin and stdout (Model Context Protocol)' },
    { flag: '--dap', about: 'Serve editors over stdin and stdout (Debug Adapter Protocol)' },
    ...gradeOptions,
    ...costOptions,
    toolsOption,
    parallelOption,
    timeoutOption,
    crossVersionOption,
    dirOption,
    { ...jsonOption, about: 'Print each answer as one line of JSON' },
  ],
  examples: [
    'debug refund-100x',
    'debug latest -x "break refund(amount > 100); continue; inspect"',
    'debug refund-100x --json -x "steps; diff 1 3"',
  ],
}
