import type { CommandSpec } from '../command.ts'
import {
  agentOption,
  anyNameOption,
  allowSecretOption,
  dirOption,
  gradeOptions,
  jsonOption,
  liveGradingOptions,
  liveOptions,
} from './common.ts'

export const promoteSpec: CommandSpec = {
  name: 'promote',
  group: 'Test',
  page: 'promoting',
  args: '<tape>',
  about: 'Make a test from a tape: case, baseline and a copy of the tape',
  options: [
    { flag: '--as <id>', about: 'Id of the case; becomes its file name' },
    { flag: '--folder <name>', about: 'Folder below golden/ [none]', was: [{ flag: '--group <name>' }] },
    agentOption,
    { flag: '--expect <outcome>', about: 'pass, or fail for a known-bad incident [pass]' },
    { flag: '--title <text>', about: 'Title of the case' },
    { flag: '--tag <name>', about: 'Tag of the case (repeatable)', many: true },
    { flag: '--lesson-wrong <text>', about: 'What went wrong in this run' },
    { flag: '--lesson-right <text>', about: 'What would have been right' },
    ...gradeOptions,
    { flag: '--oracle <file#export>', about: 'Function that grades runs, for fix, blame and fork' },
    { flag: '--outcome <json>', about: 'What the agent must return [the recorded value]' },
    { flag: '--baseline', about: 'Check only the tool calls of an import without an outcome' },
    { ...allowSecretOption, was: [{ flag: '--allow <kind>' }] },
    { flag: '--accept-unsearched', about: 'Promote although some bodies could not be searched for secrets' },
    { flag: '--accept-cut', about: 'Promote although bodies or values are cut; the agent does not need the rest' },
    { flag: '--accept-empty', about: 'Promote although the tape has no step; the agent takes none' },
    { flag: '--unverified', about: 'Write the case without a replay; it may be red' },
    dirOption,
    jsonOption,
  ],
  examples: [
    'promote latest --as refund-broken-item',
    'promote recordings/inbox/run.tape.jsonl --as refund-100x --expect fail --tag incident',
  ],
}

export const testSpec: CommandSpec = {
  name: 'test',
  group: 'Test',
  page: 'replaying',
  about: 'Run Vitest with update, tool and proof flags',
  // For the help alone: each is read where it is used, and everything else goes to Vitest.
  options: [
    { flag: '--update-recordings [mode]', about: 'Renew baselines: all, new, questions, pins or none [all]' },
    { flag: '--reason <text>', about: 'Why the new behaviour is right; written into the case' },
    { flag: '--prove', about: 'Ask live models the changed questions of unproven cases' },
    { flag: '--max-cost <usd>', about: 'Stop before live calls cost more [1.00]' },
    { flag: '--max-tokens <n>', about: 'Stop before live calls use more tokens' },
    {
      flag: '--tools <who>',
      about: 'Who answers tools: serve (the tape), run (their code), or names that run [serve]',
    },
    { flag: '--yes', about: 'Ask no question, for --prove and --tools' },
    anyNameOption,
    { flag: '--no-network', about: 'Run without a network (Linux); exit 2 where that is not possible' },
    jsonOption,
  ],
  rest: '[vitest arguments]',
  passThrough: true,
  examples: [
    'test',
    `test --update-recordings --reason "refunds need a person now"`,
    'test --update-recordings=pins',
    'test --tags-filter=golden',
    'test refund-100x --prove --max-cost 0.50',
    'test refund-100x --reporter=verbose',
  ],
}

export const acceptSpec: CommandSpec = {
  name: 'accept',
  group: 'Test',
  page: 'cases',
  args: '[...cases]',
  about: 'Accept changed prompts, tools and settings of cases',
  options: [
    { flag: '--reason <text>', about: 'Why the change is right; written beside it' },
    { flag: '--change <key>', about: 'Accept this change everywhere it occurs (repeatable)', many: true },
    { flag: '--data', about: 'Also accept changes of data, such as tool results' },
    { flag: '--list', about: 'List the changes and accept nothing' },
    dirOption,
    jsonOption,
  ],
  examples: [
    'accept refund-100x --reason "the limit was raised"',
    'accept --change 4f9kQ2mXw7TzB1aL --reason "the limit was raised"',
    'accept --list',
  ],
}

const pinOptions = [
  { flag: '--max-commits <n>', about: 'Stale after more commits than this between case and HEAD' },
  { flag: '--max-age <days>', about: 'Stale when HEAD is newer by more than this: 90d' },
  { flag: '--retired <models>', about: 'Ids of models that are no longer offered, with commas' },
]

export const checkSpec: CommandSpec = {
  name: 'check',
  group: 'Test',
  page: 'check',
  args: '[...files]',
  about: 'Check recordings before a commit: schema, pairs, digests, secrets, size',
  options: [
    { flag: '--staged', about: "Check git's next commit, for a pre-commit hook" },
    { flag: '--max-size <size>', about: 'Largest tape to commit: 500kb, 20mb [10mb]' },
    { ...allowSecretOption, was: [{ flag: '--allow <kind>' }] },
    { flag: '--pins', about: 'Instead: commit, models, prompt and tools of each case, and what changed' },
    { flag: '--stale', about: 'Instead: cases that are stale; exit 1 when there are any' },
    { flag: '--health', about: 'Instead: cases that are stale, flaky, redundant or never red; idle tools' },
    ...pinOptions,
    dirOption,
    jsonOption,
  ],
  examples: [
    'check',
    'check --staged',
    'check recordings/golden/refund-100x.case.yaml --max-size 20mb',
    'check --stale --max-commits 500 --max-age 90d',
    'check --health',
  ],
}

export const reviewSpec: CommandSpec = {
  name: 'review',
  group: 'Test',
  page: 'review',
  args: '<base..head>',
  about: 'Review a pull request: weaker cases, what each tape does, secrets, duplicates',
  options: [
    { flag: '--markdown', about: 'Print it as a comment for GitHub' },
    { flag: '--max-size <size>', about: 'Largest tape to commit: 500kb, 20mb [10mb]' },
    allowSecretOption,
    { ...dirOption, about: 'Folder in the repository [every recordings/]' },
    jsonOption,
  ],
  examples: ['review HEAD~1..HEAD', 'review HEAD~1 --markdown'],
}

export const pinsSpec: CommandSpec = {
  name: 'pins',
  now: 'check --pins',
  args: '[...cases]',
  about: 'Print commit, models, prompt and tools of each case, and what changed since',
  options: [
    { flag: '--stale', about: 'Only stale cases; exit 1 when there are any' },
    ...pinOptions,
    dirOption,
    jsonOption,
  ],
  examples: ['pins', 'pins refund-100x', 'pins --stale --max-commits 500 --max-age 90d'],
}

export const rerunSpec: CommandSpec = {
  name: 'rerun',
  group: 'Test',
  page: 'rerun',
  args: '[case]',
  about: 'Run a case with live models several times and count passes',
  options: [
    ...liveOptions,
    ...liveGradingOptions,
    anyNameOption,
    { flag: '--tag <name>', about: 'Run all cases with this tag' },
    { flag: '--golden', about: 'Run all cases of the golden set' },
    { flag: '--min-pass-rate <rate>', about: 'Fail below this lower end of the 95 % interval: 0.8' },
    dirOption,
    jsonOption,
  ],
  examples: [
    'rerun refund-100x --live --runs 20 --max-cost 2.50',
    'rerun refund-100x --live --ok "refund(amount: 25)" --reference refund-broken-item',
    'rerun --tag incident --live --runs 20 --min-pass-rate 0.8 --cross-version',
  ],
}
