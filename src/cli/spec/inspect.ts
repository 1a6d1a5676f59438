import type { CommandSpec, OptionSpec } from '../command.ts'
import { agentMeaning, dirOption, jsonOption } from './common.ts'

/** Options that say which tapes. */
export const filterOptions: readonly OptionSpec[] = [
  { flag: '--agent <name>', about: agentMeaning },
  {
    flag: '--status <how>',
    about: 'Ended so: returned, threw, exited, unknown, truncated or unreadable',
    was: [{ flag: '--outcome <how>' }],
  },
  { flag: '--model <id>', about: 'Where this model was called' },
  { flag: '--commit <hash>', about: 'Made at this commit, or a prefix of it' },
  { flag: '--tool <name>', about: 'Where this tool was called' },
  { flag: '--id <id>', about: 'With this id, or a prefix of it' },
  { flag: '--text <text>', about: 'With this text in input, arguments, answers or messages', many: true },
  { flag: '--call <rule>', about: "Where this happened: 'refund(amount > 100)', see docs/rules.md", many: true },
  { flag: '--subject <who>', about: 'About this person; - reads from stdin' },
  { flag: '--session <id>', about: 'Of this session' },
  { flag: '--attribute <name=value>', about: 'With this attribute', many: true },
  {
    flag: '--cost <from..to>',
    about: 'Cost of model calls in USD: 0.10..2, 1.., ..0.05',
    was: [
      { flag: '--min-cost <usd>', value: (from) => `${from}..` },
      { flag: '--max-cost <usd>', value: (to) => `..${to}` },
    ],
    many: true,
  },
  { flag: '--since <when>', about: 'Started at or after: 2026-03-04, 2h, 3d' },
  { flag: '--until <when>', about: 'Started at or before' },
  {
    flag: '--kept <reason>',
    about: 'Kept for sample, error, unrecorded, timeout, tokens, cost, tool, when, flag or budget',
  },
  {
    flag: '--retention <class>',
    about: 'Of this retention: clean, flagged, incident or none',
    was: [{ flag: '--class <name>' }],
  },
  { flag: '--inbox', about: 'Only in the inbox' },
  { flag: '--golden', about: 'Only in the golden set' },
]

export const lsSpec: CommandSpec = {
  name: 'ls',
  group: 'Inspect',
  page: 'inbox',
  about: 'List tapes: time, agent, steps, cost, outcome',
  options: [
    ...filterOptions,
    { flag: '--sort <by>', about: 'started (oldest first), cost, duration or steps (largest first) [started]' },
    { flag: '--limit <n>', about: 'Newest or largest tapes to list, or all [50 on a terminal]' },
    { flag: '--group', about: 'List groups of runs that decided the same and ended alike' },
    dirOption,
    jsonOption,
  ],
  examples: [
    'ls',
    'ls --inbox --status threw --since 3d',
    'ls --call "refund(amount > 100)" --text A-8220',
    'ls --sort cost --limit 10 --json',
    'ls --group --status threw --since 7d',
  ],
}

export const showSpec: CommandSpec = {
  name: 'show',
  group: 'Inspect',
  page: 'reading',
  args: '<tape|case>',
  about: 'Print a run step by step',
  options: [
    { flag: '--step <n>', about: 'Print one step whole: addresses, headers, bodies' },
    { flag: '--raw <body>', about: 'With --step: write the bytes of request or response to a pipe' },
    { flag: '--trace', about: 'Print only the tool calls, as a baseline lists them' },
    { flag: '--find <value>', about: 'Print where a value first appeared, and which requests it went into' },
    { flag: '--replay', about: 'Replay it once and report drift' },
    { flag: '--full', about: 'Print every text in full' },
    { flag: '--reads', about: 'List clock, random and id reads one by one', was: [{ flag: '--draws' }] },
    { flag: '--steps <n>', about: 'Steps to print, first and last ones [100]', was: [{ flag: '--limit <steps>' }] },
    dirOption,
    jsonOption,
  ],
  examples: [
    'show latest',
    'show refund-100x --full',
    'show refund-100x --step 3',
    'show refund-100x --find 2500',
    'show refund-100x --replay',
    'show refund-100x --json',
  ],
}

export const diffSpec: CommandSpec = {
  name: 'diff',
  group: 'Inspect',
  page: 'reading',
  args: '<a> <b>',
  about: 'Compare two runs: outcome, tool calls, steps, prompts, cost',
  options: [{ flag: '--full', about: 'Print every step, call and text' }, dirOption, jsonOption],
  examples: ['diff refund-100x latest', 'diff refund-100x latest --json'],
}

export const reportSpec: CommandSpec = {
  name: 'report',
  group: 'Inspect',
  page: 'report',
  args: '[tape|case]',
  about: 'Write a run as one HTML file, or the golden set',
  options: [
    { flag: '--out <path>', short: '-o', about: 'File to write; - is a pipe [<id>.html]' },
    { flag: '--against <tape|case>', about: 'Compare with this run' },
    { flag: '--replay', about: 'Replay it once, offline, and show what differs' },
    { flag: '--golden', about: 'The dashboard of the golden set' },
    { flag: '--results <file>', about: "JSON of Vitest's json reporter, oldest first", many: true },
    { flag: '--full', about: 'Keep every text whole, however large the file' },
    { flag: '--force', about: 'Replace an existing file that is not a report' },
    dirOption,
    jsonOption,
  ],
  examples: [
    'report latest -o run.html',
    'report latest --against refund-100x -o compared.html',
    'report --golden -o golden.html',
    'report latest --json',
  ],
}

export const openSpec: CommandSpec = {
  name: 'open',
  group: 'Inspect',
  page: 'report',
  args: '[tape|case]',
  about: 'Serve read-only reports of all recordings on 127.0.0.1',
  options: [
    ...filterOptions.filter(({ flag }) => flag !== '--inbox' && flag !== '--golden'),
    { flag: '--port <n>', about: 'Port, for tunnels [a free one]' },
    { flag: '--browser', about: 'Open the page in the browser' },
    { flag: '--results <file>', about: "JSON of Vitest's json reporter, oldest first", many: true },
    dirOption,
    jsonOption,
  ],
  examples: ['open', 'open latest', 'open --status threw --since 3d', 'open --port 4173'],
}
