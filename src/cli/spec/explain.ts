import type { CommandSpec } from '../command.ts'
import {
  agentOption,
  anyNameOption,
  crossVersionOption,
  dirOption,
  gradeOptions,
  jsonOption,
  timeoutOption,
  toolsOption,
} from './common.ts'

export const blameSpec: CommandSpec = {
  name: 'blame',
  group: 'Explain',
  page: 'blame',
  args: '<tape|case>',
  about: 'Find the step that decided a failed run',
  options: [
    ...gradeOptions,
    {
      flag: '--oracle <file#export>',
      about: 'Function that grades a run by its outcome and tool calls',
      excludes: ['ok', 'bad'],
    },
    { flag: '--flaky-oracle', about: 'Grade each run five times, by majority' },
    anyNameOption,
    {
      flag: '--reference <tape|case>',
      about: 'Good run whose tools answer what this tape cannot',
      was: [{ flag: '--donor <tape|case>' }],
    },
    toolsOption,
    {
      flag: '--repairs',
      about: 'Also: necessary and sufficient answers, smallest repair set',
      was: [{ flag: '--columns' }],
    },
    { flag: '--mutate', about: 'Instead: which single values of answers change the outcome' },
    {
      flag: '--isolate',
      about: 'Instead: which layer triggers it: code, sampling, data or timing',
      excludes: ['repairs', 'mutate'],
    },
    { flag: '--live', about: 'Call live models (costs money)' },
    {
      flag: '--max-cost <usd>',
      about: 'Stop before live calls cost more [5.00]',
      was: [{ flag: '--budget <usd>', implies: 'live' }],
    },
    {
      flag: '--max-runs <n>',
      about: 'Most forks [400; fewer where the effect is small]',
      was: [{ flag: '--forks <n>' }],
    },
    {
      flag: '--max-time <duration>',
      about: 'Start no more runs after: 90s, 10m [no limit]',
      was: [{ flag: '--time <span>' }],
    },
    {
      flag: '--confidence <level>',
      about: 'Confidence of a verdict that names a step [0.95]',
      was: [{ flag: '--delta <risk>', value: complement }],
    },
    {
      flag: '--min-effect <difference>',
      about: 'Smallest difference of rates to blame [0.2]',
      was: [{ flag: '--tau <difference>' }],
    },
    { flag: '--parallel <n>', about: 'Concurrent runs [8]' },
    timeoutOption,
    agentOption,
    { flag: '--dry-run', about: 'Replay, grade and estimate the cost; call no model' },
    { flag: '--no-cache', about: 'Do not reuse forks of earlier sessions', was: [{ flag: '--fresh' }] },
    crossVersionOption,
    dirOption,
    jsonOption,
  ],
  examples: [
    'blame refund-100x --bad "refund(*)" --live --max-cost 2.50',
    'blame latest --ok "answer~cannot refund" --reference refund-broken-item --dry-run',
    'blame refund-100x --isolate --bad "refund(*)" --tools live --live --max-cost 2.50',
  ],
}

const isolating: ReadonlySet<string> = new Set(['--repairs', '--mutate', '--isolate'])

export const isolateSpec: CommandSpec = {
  name: 'isolate',
  now: 'blame --isolate',
  args: '<tape|case>',
  about: 'Find the layer that triggers a failure: code, sampling, data or timing',
  options: blameSpec.options.filter(({ flag }) => !isolating.has(flag)),
  examples: [
    'isolate refund-100x --bad "refund(*)" --tools live --live --max-cost 2.50',
    'isolate latest --bad "answer~refunded" --tools live --live',
  ],
}

/** A risk as a confidence: 0.05 → 0.95, without the noise of binary fractions. */
function complement(risk: string): string {
  const confidence = 1 - Number(risk)
  return Number.isFinite(confidence) ? String(Number(confidence.toFixed(12))) : risk
}

export const chaosSpec: CommandSpec = {
  name: 'chaos',
  group: 'Explain',
  page: 'chaos',
  args: '<tape|case>',
  about: 'Inject faults into a recorded run and find the fewest that break it',
  options: [
    { flag: '--faults <names>', about: 'Families or single faults: http,tool-error [http,tools,order]' },
    { flag: '--runs <n>', about: 'Schedules of faults to try [100]' },
    { flag: '--seed <n>', about: 'Seed of the schedules [random]' },
    { flag: '--path <path>', about: 'With --seed: run one schedule again, as a failure reports it' },
    { flag: '--smallest', about: 'Shrink the numbers in a failing schedule too' },
    {
      flag: '--max-time <duration>',
      about: 'Start no more runs after: 90s, 10m [no limit]',
      was: [{ flag: '--time <duration>' }],
    },
    { flag: '--fail <endings>', about: 'Endings that count as failures [crash,hang,trace,outcome]' },
    {
      flag: '--repeatable <tools>',
      about: 'Tools that change nothing and may be repeated: get_*,balance',
      was: [{ flag: '--reads <tools>' }],
    },
    { flag: '--schedule <file>', about: 'Schedule to try first: a JSON list of faults' },
    { flag: '--arbitrary <file#name>', about: 'Your own fast-check arbitrary of schedules' },
    { flag: '--variant <names>', about: 'Agents of the config for the fault regression' },
    agentOption,
    { flag: '--timeout <duration>', about: 'Limit of one run: 90s, 5m [as for cases]' },
    dirOption,
    jsonOption,
  ],
  examples: [
    'chaos refund-100x --faults tool-error,tool-slow,http-slow --runs 50 --max-time 60s',
    'chaos refund-100x --faults http --smallest --seed 7',
  ],
}

export const validateSpec: CommandSpec = {
  name: 'validate',
  group: 'Explain',
  page: 'validate',
  about: 'Measure blame on planted causes: can its verdicts be trusted',
  options: [
    { flag: '--quick', about: 'A sample of every kind of tape, in under a minute (default)' },
    { flag: '--full', about: '200 tapes of every kind and 20 real runs of every family' },
    { flag: '--level <level>', about: 'engine: models of an agent; harness: real runs over loopback; all [all]' },
    { flag: '--check', about: 'Fail when a figure leaves the interval of the committed report' },
    { flag: '--family <name>', about: 'One family or group: F5.and_2, F5' },
    { flag: '--seed <n>', about: 'Seed of the tapes [that of the report]' },
    { flag: '--report <file>', about: 'The report [recordings/validation.json]' },
    jsonOption,
  ],
  examples: ['validate --level engine --family F5.and_2', 'validate --quick --level engine --family F0'],
}
