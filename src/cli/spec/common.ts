import type { OptionSpec } from '../command.ts'

export const jsonOption: OptionSpec = { flag: '--json', about: 'Print the result as JSON' }

/** One meaning in every command; each has its own default. */
export const agentMeaning = 'Agent, by its name in the Vitest config'

export const agentOption: OptionSpec = { flag: '--agent <name>', about: `${agentMeaning} [that of the tape or case]` }

export const allowSecretOption: OptionSpec = {
  flag: '--allow-secret <kind>',
  about: 'Kind of finding that is not secret here, such as email (repeatable)',
  many: true,
}

export const dirOption: OptionSpec = { flag: '--dir <folder>', about: 'Recordings folder [recordings]' }

/** Consent, and the limits that go with it. */
export const costOptions: readonly OptionSpec[] = [
  { flag: '--live', about: 'Call live models (costs money)' },
  {
    flag: '--max-cost <usd>',
    about: 'Stop before live calls cost more [1.00]',
    was: [{ flag: '--budget <usd>', implies: 'live' }],
  },
  { flag: '--max-tokens <n>', about: 'Stop before live calls use more tokens' },
  { flag: '--max-calls <n>', about: 'Stop before more live calls than this' },
]

export const runsOption: OptionSpec = {
  flag: '--runs <n>',
  about: 'Live runs [10]',
  was: [{ flag: '--times <n>' }],
}

export const parallelOption: OptionSpec = { flag: '--parallel <n>', about: 'Concurrent runs [4]' }

export const timeoutOption: OptionSpec = { flag: '--timeout <duration>', about: 'Limit of one run: 90s, 5m [2m]' }

export const crossVersionOption: OptionSpec = {
  flag: '--cross-version',
  about: 'Run although code or models differ from the tape',
}

/** Options of every command that calls live models. */
export const liveOptions: readonly OptionSpec[] = [
  ...costOptions,
  runsOption,
  parallelOption,
  timeoutOption,
  crossVersionOption,
]

export const toolsOption: OptionSpec = {
  flag: '--tools <who>',
  about: 'Who answers tools: tape, or live with their side effects [tape]',
}

export const anyNameOption: OptionSpec = {
  flag: '--any-name',
  about: 'Allow names that no run knows',
}

export const gradeOptions: readonly OptionSpec[] = [
  { flag: '--ok <expectation>', about: 'A good run: refunded=25, answer~refunded (repeatable)', many: true },
  { flag: '--bad <expectation>', about: 'A bad run: "refund(amount: 2500)" (repeatable)', many: true },
]

/** Who grades and who answers tools, where runs are live and a case is their beginning. */
export const liveGradingOptions: readonly OptionSpec[] = [
  ...gradeOptions,
  {
    flag: '--oracle <file#export>',
    about: 'Function that grades a run [the one the case names]',
    excludes: ['ok', 'bad'],
  },
  { flag: '--tools <who>', about: 'Who answers tools: tape, functions in a module (./test/tools.ts), or live [tape]' },
  {
    flag: '--reference <tape|case>',
    about: 'Good run whose tools answer what this tape cannot',
    was: [{ flag: '--donor <tape|case>' }],
  },
]
