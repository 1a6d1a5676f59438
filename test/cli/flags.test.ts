import { expect, test } from 'vitest'
import { specs } from '../../src/cli/spec/index.ts'

/*
 * A flag means one thing, in whichever command it stands.
 */

/** Flags whose help names what their command works on: the one meaning behind those words. */
const meanings: Readonly<Record<string, string>> = {
  '--as': 'the id of what the command makes',
  '--dir': 'the folder with recordings; of `record`, as of `createRecorder`, the folder of the new tape',
  '--dry-run': 'say what would be done, and do none of it',
  '--force': 'replace a file that is there',
  '--format': 'the format on the other side',
  '--full': 'all of it, however much that is',
  '--golden': 'the cases of the golden set alone',
  '--id': 'the id of a tape',
  '--json': 'the answer as JSON, for programs',
  '--oracle': 'the function that grades a run',
  '--out': 'where to write',
  '--reason': 'why, in words that are kept with the change',
  '--replay': 'replay the run once, and show what differs',
  '--retention': 'the class of retention of a tape',
  '--runs': 'how many runs',
  '--seed': 'the seed of what is drawn',
  '--stale': 'only what is stale; exit 1 when there is any',
  '--step': 'a step of the run, counted from 1',
  '--tag': 'a tag of a case',
  '--tools': 'who answers the calls of tools',
  '--yes': 'ask no question',
}

const options = specs.flatMap(({ options: list }) => list).filter(({ hidden }) => hidden !== true)
const byName = Map.groupBy(options, ({ flag }) => flag.split(' ')[0]!)

/** What help says of a flag in the commands it has, each default left out: that is the command's own. */
function wordings(name: string): readonly string[] {
  return [...new Set((byName.get(name) ?? []).map(({ about }) => about.replace(/ \[[^\]]*\]$/, '')))]
}

test('a flag takes the same kind of value in every command', () => {
  const several = [...byName].filter(([, list]) => new Set(list.map(({ flag }) => flag)).size > 1)
  expect(several.map(([name]) => name)).toEqual([])
})

test('a flag with several wordings has one meaning, which stands here', () => {
  const several = [...byName.keys()].filter((name) => wordings(name).length > 1)
  expect(several.sort()).toEqual(Object.keys(meanings))
})

test('a letter stands for one flag', () => {
  const letters = options.flatMap(({ short, flag }) => (short === undefined ? [] : [[short, flag] as const]))
  const several = [...Map.groupBy(letters, ([short]) => short)].filter(
    ([, of]) => new Set(of.map(([, f]) => f)).size > 1,
  )
  expect(several).toEqual([])
})

test('every other flag has one wording', () => {
  const one = [...byName.keys()].filter((name) => !Object.hasOwn(meanings, name)).sort()
  expect(one.map((name) => `${name}: ${wordings(name).join(' | ')}`).join('\n')).toMatchInlineSnapshot(`
    "--accept-cut: Promote although bodies or values are cut; the agent does not need the rest
    --accept-empty: Promote although the tape has no step; the agent takes none
    --accept-unsearched: Promote although some bodies could not be searched for secrets
    --add: Add this agent instead of those found (repeatable)
    --against: Compare with this run
    --agent: Agent, by its name in the Vitest config
    --allow-io: Let real I/O through: "socket 127.0.0.1:5432" (repeatable)
    --allow-secret: Kind of finding that is not secret here, such as email (repeatable)
    --any-name: Allow names that no run knows
    --arbitrary: Your own fast-check arbitrary of schedules
    --attribute: With this attribute
    --bad: A bad run: "refund(amount: 2500)" (repeatable)
    --baseline: Check only the tool calls of an import without an outcome
    --body: Replace a whole body or result by this file
    --browser: Open the page in the browser
    --call: Where this happened: 'refund(amount > 100)', see docs/rules.md
    --change: Accept this change everywhere it occurs (repeatable)
    --check: Fail when a figure leaves the interval of the committed report
    --clock: Shift the clock: +2h, -30m
    --commands: Run these commands, separated by semicolons, and exit
    --commit: Made at this commit, or a prefix of it
    --confidence: Confidence of a verdict that names a step
    --continue-with: Another agent of the Vitest config runs on
    --cost: Cost of model calls in USD: 0.10..2, 1.., ..0.05
    --critical: Try other decisions at every model step
    --cross-version: Run although code or models differ from the tape
    --dap: Serve editors over stdin and stdout (Debug Adapter Protocol)
    --data: Also accept changes of data, such as tool results
    --decide: Replace the decision of the model: refund(amount=10) (repeatable)
    --edit: Edit the answer with a regular expression, as in sed
    --exact: Require the recorded run byte for byte
    --expect: pass, or fail for a known-bad incident
    --expect-stop: Exit code 1 when continue finds no stop
    --fail: Endings that count as failures
    --family: One family or group: F5.and_2, F5
    --faults: Families or single faults: http,tool-error
    --find: Print where a value first appeared, and which requests it went into
    --flaky-oracle: Grade each run five times, by majority
    --folder: Folder below golden/
    --group: List groups of runs that decided the same and ended alike
    --health: Instead: cases that are stale, flaky, redundant or never red; idle tools
    --inbox: Only in the inbox
    --input: Input of the agent, for one file
    --inspect: Let an editor attach while the agent is stopped in its code
    --inspect-port: Port of --inspect, on this machine only
    --isolate: Instead: which layer triggers it: code, sampling, data or timing
    --json-patch: Change body or result by a JSON Patch file (RFC 6902)
    --kept: Kept for sample, error, unrecorded, timeout, tokens, cost, tool, when, flag or budget
    --lesson-right: What would have been right
    --lesson-wrong: What went wrong in this run
    --level: engine: models of an agent; harness: real runs over loopback; all
    --limit: Newest or largest tapes to list, or all
    --list: List the changes and accept nothing
    --live: Call live models (costs money)
    --mark: Replace the data of a mark (repeatable)
    --markdown: Print it as a comment for GitHub
    --match: How far requests may differ: exact, canonical, conversation, reworded
    --max-age: Stale when HEAD is newer by more than this: 90d
    --max-calls: Stop before more live calls than this
    --max-commits: Stale after more commits than this between case and HEAD
    --max-cost: Stop before live calls cost more
    --max-memory: Memory for replays that wait at steps of a long run
    --max-runs: Most forks
    --max-size: Largest tape to commit: 500kb, 20mb
    --max-time: Start no more runs after: 90s, 10m
    --max-tokens: Stop before live calls use more tokens
    --mcp: Serve coding agents over stdin and stdout (Model Context Protocol)
    --min-effect: Smallest difference of rates to blame
    --min-pass-rate: Fail below this lower end of the 95 % interval: 0.8
    --mode: Later steps that are replayed or live: 5=replayed,7=live
    --model: Where this model was called
    --model-server: Server of the live models; needs --live
    --module: Agent that is not in the Vitest config
    --mutate: Instead: which single values of answers change the outcome
    --no-cache: Do not reuse forks of earlier sessions
    --no-content: Leave out messages, arguments, results and bodies
    --no-network: Run without a network (Linux); exit 2 where that is not possible
    --ok: A good run: refunded=25, answer~refunded (repeatable)
    --older-than: Also tapes older than this without an end of retention: 90d; needs --retention
    --outcome: What the agent must return
    --parallel: Concurrent runs
    --path: With --seed: run one schedule again, as a failure reports it
    --pins: Instead: commit, models, prompt and tools of each case, and what changed
    --port: Port, for tunnels
    --prove: Ask live models the changed questions of unproven cases
    --quick: A sample of every kind of tape, in under a minute (default)
    --raw: With --step: write the bytes of request or response to a pipe
    --reads: List clock, random and id reads one by one
    --redact: Your recorder's redact option as JSON, or a tape it wrote
    --reference: Good run whose tools answer what this tape cannot
    --release: End the hold
    --repairs: Also: necessary and sufficient answers, smallest repair set
    --repeatable: Tools that change nothing and may be repeated: get_*,balance
    --report: The report
    --result: Replace the whole result of a tool call
    --results: JSON of Vitest's json reporter, oldest first
    --retired: Ids of models that are no longer offered, with commas
    --run-recorded: Run the command line stored in the tape, this once
    --save: Write each branch into the inbox
    --say: Replace the answer of the model by text, without tool calls
    --schedule: Schedule to try first: a JSON list of faults
    --session: Of this session
    --set: Set a recorded value: result.total=30 (repeatable)
    --since: Started at or after: 2026-03-04, 2h, 3d
    --smallest: Shrink the numbers in a failing schedule too
    --sort: started (oldest first), cost, duration or steps (largest first)
    --staged: Check git's next commit, for a pre-commit hook
    --status: Ended so: returned, threw, exited, unknown, truncated or unreadable
    --steps: Steps to print, first and last ones
    --subject: About this person; - reads from stdin
    --tail: Continuation: tape, live, a tape or case, script.ts#export
    --text: With this text in input, arguments, answers or messages
    --timeout: Limit of one run: 90s, 5m
    --title: Title of the case
    --tool: Where this tool was called
    --trace: Print only the tool calls, as a baseline lists them
    --until: Started at or before
    --unverified: Write the case without a replay; it may be red
    --update-recordings: Renew baselines: all, new, questions, pins or none
    --variant: Agents of the config for the fault regression
    --verbose: List uninstrumented reads that change nothing
    --without: Revision without the fix; none: skip the red check"
  `)
})
