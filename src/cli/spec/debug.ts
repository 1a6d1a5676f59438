import type { CommandSpec, OptionSpec } from '../command.ts'
import {
  agentOption,
  anyNameOption,
  costOptions,
  crossVersionOption,
  dirOption,
  gradeOptions,
  jsonOption,
  liveOptions,
  parallelOption,
  timeoutOption,
  toolsOption,
} from './common.ts'

/** Options of every command that starts the program or agent of a tape. */
const replayOptions: readonly OptionSpec[] = [
  agentOption,
  { flag: '--module <file#export>', about: 'Agent that is not in the Vitest config' },
  {
    flag: '--allow-io <what>',
    about: 'Let real I/O through: "socket 127.0.0.1:5432" (repeatable)',
    many: true,
    was: [{ flag: '--allow <what>' }],
  },
  { flag: '--run-recorded', about: 'Run the command line stored in the tape, this once' },
  { flag: '--timeout <duration>', about: 'Limit of one run: 90s, 5m [as for cases; of a program or --module 10m]' },
]

export const replaySpec: CommandSpec = {
  name: 'replay',
  group: 'Debug',
  page: 'replaying',
  args: '<tape>',
  rest: '[-- <program> [arguments]]',
  about: 'Run the agent or program of a tape again, from the tape',
  options: [
    ...replayOptions,
    {
      flag: '--match <level>',
      about: 'How far requests may differ: exact, canonical, conversation, reworded [reworded]',
      was: [{ flag: '--serve <level>' }],
    },
    { flag: '--exact', about: 'Require the recorded run byte for byte' },
    dirOption,
    jsonOption,
  ],
  examples: [
    'replay recordings/inbox/refund-100x.tape.jsonl',
    'replay refund-100x -- node agent.js --verbose',
    'replay refund-100x --module ./src/refund-agent.ts#refundAgent',
    'replay refund-100x --exact',
  ],
}

export const verifySpec: CommandSpec = {
  name: 'verify',
  now: 'replay --exact',
  args: '<tape>',
  rest: '[-- <program> [arguments]]',
  about: 'Replay a tape and require every byte, read, answer and exit code as recorded',
  options: [...replayOptions, dirOption, jsonOption],
  examples: [
    'verify recordings/inbox/refund-100x.tape.jsonl',
    'verify refund-100x --module ./src/refund-agent.ts#refundAgent',
  ],
}

const setOption: OptionSpec = {
  flag: '--set <path=value>',
  about: 'Set a recorded value: result.total=30 (repeatable)',
  many: true,
}

export const patchSpec: CommandSpec = {
  name: 'patch',
  now: 'fork',
  args: '<tape>',
  about: 'Change one recorded value, replay, and report whether the outcome changes',
  options: [
    { flag: '--step <n>', about: 'Step whose answer changes [the input of the run]' },
    setOption,
    agentOption,
    ...liveOptions,
    dirOption,
    jsonOption,
  ],
  examples: [
    'patch refund-100x --step 2 --set result.total=30',
    'patch refund-100x --set input.text="Refund A-2." --live --runs 5',
  ],
}

/** Options that say what changes, or who goes on: `--critical` chooses these itself. */
const changing = [
  'step',
  'set',
  'result',
  'body',
  'json-patch',
  'edit',
  'replace',
  'with',
  'decide',
  'say',
  'mark',
  'continue-with',
  'clock',
  'mode',
  'seed',
]

export const forkSpec: CommandSpec = {
  name: 'fork',
  group: 'Debug',
  page: 'fork',
  args: '<tape|case>',
  about: 'Replay to a step, change it, run on',
  options: [
    { flag: '--step <n>', about: 'Step to change; without a change, first step to resample' },
    setOption,
    { flag: '--result <json>', about: 'Replace the whole result of a tool call' },
    { flag: '--body <file>', about: 'Replace a whole body or result by this file', was: [{ flag: '--answer <file>' }] },
    { flag: '--json-patch <file>', about: 'Change body or result by a JSON Patch file (RFC 6902)' },
    { flag: '--edit <s/old/new/>', about: 'Edit the answer with a regular expression, as in sed' },
    { flag: '--replace <text>', about: 'Replace this text of the answer; needs --with', hidden: true },
    { flag: '--with <text>', about: 'Replacement', hidden: true },
    { flag: '--decide <call>', about: 'Replace the decision of the model: refund(amount=10) (repeatable)', many: true },
    {
      flag: '--say <text>',
      about: 'Replace the answer of the model by text, without tool calls',
      excludes: ['decide'],
    },
    { flag: '--mark <name=json>', about: 'Replace the data of a mark (repeatable)', many: true },
    {
      flag: '--continue-with <agent>',
      about: 'Another agent of the Vitest config runs on',
      was: [{ flag: '--agent <name>' }],
    },
    { flag: '--clock <offset>', about: 'Shift the clock: +2h, -30m' },
    { flag: '--model-server <url>', about: 'Server of the live models; needs --live' },
    { flag: '--mode <n=mode>', about: 'Later steps that are replayed or live: 5=replayed,7=live' },
    { flag: '--tail <who>', about: 'Continuation: tape, live, a tape or case, script.ts#export [tape]' },
    toolsOption,
    { flag: '--seed <n>', about: 'Seed of the first fork [1]' },
    ...gradeOptions,
    anyNameOption,
    { flag: '--critical', about: 'Try other decisions at every model step', excludes: changing },
    { flag: '--save', about: 'Write each branch into the inbox' },
    { flag: '--no-cache', about: 'Do not reuse forks of earlier sessions', was: [{ flag: '--fresh' }] },
    ...costOptions,
    { flag: '--runs <n>', about: 'Number of forks, each with its own seed [1]', was: [{ flag: '--times <n>' }] },
    parallelOption,
    timeoutOption,
    crossVersionOption,
    dirOption,
    jsonOption,
  ],
  examples: [
    'fork refund-100x --step 5 --say "I refunded nothing."',
    'fork refund-100x --step 3 --decide "refund(order_id=A-100, amount=10)" --live --tools live',
    'fork refund-100x --critical',
  ],
}

export const doctorSpec: CommandSpec = {
  name: 'doctor',
  group: 'Debug',
  page: 'doctor',
  args: '[tape|case...]',
  about: 'Find what makes runs irreproducible, and name the line',
  options: [
    { flag: '--verbose', about: 'List uninstrumented reads that change nothing' },
    { flag: '--timeout <duration>', about: 'Limit of one run: 90s, 5m [as for cases]' },
    dirOption,
    jsonOption,
  ],
  examples: ['doctor', 'doctor refund-100x', 'doctor latest --verbose'],
}
