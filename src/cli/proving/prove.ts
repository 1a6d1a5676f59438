// Over 300 lines: one command: look, ask, write, print.
import { mkdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { provenAtLeast } from '../../blame/prove-gate.ts'
import type { ProveAnswer, ProveEstimate, ProveProgress, ProveRequest } from '../../blame/prove-task.ts'
import { type Case, parseCase, type ProvenChange, requireTapeFile, updateCase } from '../../cases/index.ts'
import { HarvestError, neutralLine, shellWord } from '../../errors/index.ts'
import { counted } from '../../errors/words.ts'
import type { AcceptReport } from '../../replay/accept-request.ts'
import { findCase, forksFolder, readPrices, writeFileAtomic } from '../../recordings/index.ts'
import { type Json, readTape } from '../../tape/index.ts'
import type { Spent } from '../../live/index.ts'
import { costText, usedText } from '../../live/said-spent.ts'
import { passedLines } from '../passed-limit.ts'
import { added, mostOf, noUses, type Use } from '../../live/budget.ts'
import { refuseLinks } from '../../tape/links.ts'
import { fileNameOf } from '../../tape/file-name.ts'
import { askYesNo, canAsk } from '../ask.ts'
import { askedQuestions, caseFilters, caseNamed } from '../asked-questions.ts'
import { printDifferent } from '../different-cases.ts'
import { endedEarly } from '../ended-early.ts'
import { exit } from '../exit.ts'
import { noteUnknownInCase } from '../known-bad.ts'
import { branchFor } from '../forking/branch-tape.ts'
import { runTasks } from '../../jobs/run.ts'
import { dirOption } from '../named-tape.ts'
import type { Screen } from '../../report/output.ts'
import { type ProveWords, readProveWords } from './words.ts'

/** A case with a question that was not accepted and nothing proves. */
interface Unproven {
  /** `golden/refund-100x`. */
  readonly name: string
  readonly file: string
  /** As it was when its proof began. */
  readonly text: string
  readonly case: Case
  readonly keys: readonly string[]
}

/** What became of one case. */
export interface ProvenCase {
  readonly case: string
  readonly verdict: 'proven' | 'different' | 'unproven'
  /** `fail`: its recorded run is known to be bad. */
  readonly expect: Case['expect']
  readonly answer?: ProveAnswer
  /** The first ask that was not good, as a branch file. */
  readonly saved?: string
  /** Why the case was not written, or was not asked. */
  readonly problem?: string
  /** What to do about that. */
  readonly fix?: readonly string[]
}

/**
 * Asks the models the changed questions of unproven cases, and writes into the cases what that proves.
 *
 * @throws HarvestError `HARVEST_PROVE_REFUSED` without a yes
 */
export async function proveCases(rest: readonly string[], screen: Screen): Promise<number> {
  const words = readProveWords(rest)
  const report = await look(words, screen)
  const isDifferent = new Set(report.different)
  const asked = report.unproven.flatMap(({ names }) => names).filter((name) => !isDifferent.has(name))
  const cases = unprovenCases(new Set(asked), report, words)
  const byHand = asked.filter((name) => !cases.some((one) => one.name === name))
  for (const name of new Set(byHand)) screen.note(`not a case, so it cannot be proven: ${neutralLine(name)}`)
  const { recordings } = words
  printDifferent(report.different, { said: 'only what is unproven can be proven', recordings }, (text) =>
    screen.note(text ?? ''),
  )
  const isRed = report.different.length > 0 || byHand.length > 0
  if (cases.length === 0) {
    if (words.isJson) screen.json({ cases: [] })
    else screen.line('no case is unproven')
    return isRed ? exit.divergence : exit.ok
  }
  refuseUnattended(report)
  if (!words.isAnyName)
    for (const { case: kase } of cases) noteUnknownInCase(kase, readTape(requireTapeFile(kase)), screen)
  const estimates = await tasks<ProveEstimate>(cases, words, true, screen)
  await requireYes(estimates, words, screen)
  const { answers, interrupted, spent } = await prove(cases, words, screen)
  const proven = cases.map((one, at) => conclude(one, answers[at] ?? new TypeError('no answer'), words))
  print(proven, spent, words, screen)
  if (interrupted !== undefined) return endedEarly(interrupted, screen)
  if (!words.isJson && proven.some(({ answer }) => answer?.decision === 'budget'))
    screen.line(`→ to go on from there: ${enough(estimates, proven, words)}`)
  return !isRed && proven.every(({ verdict }) => verdict === 'proven') ? exit.ok : exit.divergence
}

async function look({ cases, recordings }: ProveWords, screen: Screen): Promise<AcceptReport> {
  const files = cases.map((name) => findCase(recordings, name).file)
  screen.progress('replaying')
  try {
    const filters = caseFilters(files, dirOption(recordings) === '' ? undefined : recordings)
    return await askedQuestions([...filters, '--update-recordings=none'], files)
  } finally {
    screen.progress('')
  }
}

function unprovenCases(
  names: ReadonlySet<string>,
  { unproven }: AcceptReport,
  { recordings }: ProveWords,
): readonly Unproven[] {
  return [...names].flatMap((name) => {
    const found = caseNamed(recordings, name)?.file
    if (found === undefined) return []
    const text = readFileSync(found, 'utf8')
    const keys = unproven.flatMap(({ question, names: all }) => (all.includes(name) ? [question.key] : []))
    return [{ name, file: found, text, case: parseCase(text, found), keys }]
  })
}

function refuseUnattended({ unattended }: AcceptReport): void {
  if (unattended === undefined || process.env['HARVEST_ALLOW_CI_PROVE'] === '1') return
  throw new HarvestError('HARVEST_PROVE_REFUSED', {
    what: 'A proof calls live models, which is not allowed in CI or by coding agents',
    where: { because: unattended },
    fix: ['run it on a developer machine', 'to allow it anyway: HARVEST_ALLOW_CI_PROVE=1 with --yes'],
  })
}

/** The limit that pays for all that may still be asked: what was used before counts. */
function enough(
  estimates: readonly (ProveEstimate | HarvestError)[],
  proven: readonly ProvenCase[],
  { costUsd, tokens = 0 }: ProveWords,
): string {
  const uses = [
    ...estimates.flatMap((one) => (HarvestError.is(one) ? [] : [one])),
    ...proven.flatMap(({ answer }) => [answer?.used ?? [], answer?.grading ?? []].flat()),
  ]
  const sum = (of: (use: ProveEstimate) => number): number => uses.reduce((all, use) => all + of(use), 0)
  // Never what was just too little: a grade may have shown more than was known.
  return costUsd === undefined
    ? `--max-tokens ${Math.max(
        2 * tokens,
        sum((use) => use.tokens),
      )}`
    : `--max-cost ${(
        Math.ceil(
          100 *
            Math.max(
              2 * costUsd,
              sum((use) => use.costUsd ?? 0),
            ),
        ) / 100
      ).toFixed(2)}`
}

/** Says what it may cost at most, and goes on only with a yes. */
async function requireYes(
  estimates: readonly (ProveEstimate | HarvestError)[],
  words: ProveWords,
  screen: Screen,
): Promise<void> {
  const [refused] = estimates.filter((one) => HarvestError.is(one))
  const made = estimates.filter((one): one is ProveEstimate => !HarvestError.is(one))
  // No case can be asked: the error says what is missing.
  if (made.length === 0 && refused !== undefined) throw refused
  const calls = made.reduce((sum, one) => sum + one.calls, 0)
  const limit =
    words.costUsd === undefined
      ? `${words.tokens} tokens`
      : `$${words.costUsd < 0.01 ? words.costUsd : words.costUsd.toFixed(2)}`
  const text = `Prove ${made.length} case${made.length === 1 ? '' : 's'}: at most ${counted(calls, 'model call')} and ${limit}, earlier sessions included.`
  if (words.isYes) return words.isJson ? undefined : screen.note(text)
  if (canAsk() && (await askYesNo(`${text} Ask the models?`))) return
  throw new HarvestError('HARVEST_PROVE_REFUSED', {
    what: 'A proof calls live models, which costs money: confirm with --yes',
    where: { 'at most': `${counted(calls, 'model call')}, ${limit}` },
    fix: ['to confirm: --yes', 'to confirm with a lower limit: --yes --max-cost 0.20'],
  })
}

/** Proves all of them; when someone ends that, what is known of each until then. */
async function prove(
  cases: readonly Unproven[],
  words: ProveWords,
  screen: Screen,
): Promise<{
  readonly answers: readonly (ProveAnswer | HarvestError)[]
  readonly interrupted?: HarvestError
  readonly spent?: Spent
}> {
  const known: ProveAnswer[] = []
  let spent: Spent | undefined
  const heard = {
    onProgress: (job: number, told: ProveProgress) => void (known[job] = told.known),
    onSpent: (used: Spent) => void (spent = used),
  }
  try {
    const answers = await tasks<ProveAnswer>(cases, words, false, screen, heard)
    return { answers, ...(spent === undefined ? {} : { spent }) }
  } catch (error) {
    if (!HarvestError.is(error, 'HARVEST_CLI_INTERRUPTED') || Object.keys(known).length === 0) throw error
    screen.progress('')
    return {
      answers: cases.map((_, at) => known[at] ?? error),
      interrupted: error,
      ...(spent === undefined ? {} : { spent }),
    }
  }
}

async function tasks<Answer>(
  cases: readonly Unproven[],
  { recordings, costUsd, tokens, parallel, timeoutMs }: ProveWords,
  isDryRun: boolean,
  screen: Screen,
  {
    onProgress,
    onSpent,
  }: {
    readonly onProgress?: (job: number, told: ProveProgress) => void
    readonly onSpent?: (used: Spent) => void
  } = {},
): Promise<readonly (Answer | HarvestError)[]> {
  const jobs = cases.map(({ file, text, case: { tape }, keys }) => {
    const tapeFile = resolve(dirname(file), tape)
    const request: ProveRequest = { folder: resolve(forksFolder(recordings, tapeFile)), keys, isDryRun }
    const task = { name: 'prove' as const, options: request as unknown as Json }
    return { tape: tapeFile, case: { file: resolve(file), text }, timeoutMs, task }
  })
  screen.progress(isDryRun ? 'looking what it may cost' : 'asking')
  const answers = await runTasks(jobs, {
    parallel,
    prices: readPrices(recordings) ?? {},
    limits: { ...(costUsd === undefined ? {} : { costUsd }), ...(tokens === undefined ? {} : { tokens }) },
    onReport: (job, told) => {
      const progress = told as unknown as ProveProgress
      screen.progress(`${cases[job]?.name ?? ''}: ${progress.good} of ${progress.asks} good`)
      onProgress?.(job, progress)
    },
    ...(onSpent === undefined ? {} : { onSpent }),
  })
  screen.progress('')
  return answers as unknown as readonly (Answer | HarvestError)[]
}

function conclude(one: Unproven, answer: ProveAnswer | Error, words: ProveWords): ProvenCase {
  const named = { case: one.name, expect: one.case.expect }
  if (answer instanceof Error) {
    if (!HarvestError.is(answer)) throw answer
    const { code, facts } = answer
    // How to go on is said once, behind all cases.
    if (code === 'HARVEST_CLI_INTERRUPTED')
      return { ...named, verdict: 'unproven', problem: 'stopped before it was asked' }
    const because = facts.where?.['because']
    const problem = `${facts.what}${because === undefined ? '' : `: ${because}`} (${code})`
    return { ...named, verdict: 'unproven', problem, ...(facts.fix === undefined ? {} : { fix: facts.fix }) }
  }
  if (answer.decision === 'proven') return { ...named, ...written(one, answer), answer }
  const saved = saveBranch(one, answer, words)
  const verdict = answer.decision === 'worse' ? 'different' : 'unproven'
  return { ...named, verdict, answer, ...(saved === undefined ? {} : { saved }) }
}

function written({ file, text, case: kase }: Unproven, answer: ProveAnswer): Pick<ProvenCase, 'verdict' | 'problem'> {
  if (readFileSync(file, 'utf8') !== text)
    return { verdict: 'unproven', problem: 'it was edited meanwhile: nothing was written' }
  const entries = entriesOf(answer)
  const kept = (kase.proven ?? []).filter(({ key }) => !entries.some((entry) => entry.key === key))
  writeFileAtomic(file, updateCase(text, { proven: [...kept, ...entries] }, file))
  return { verdict: 'proven' }
}

function entriesOf({
  questions,
  together,
  model,
  judgedBy,
  steps,
  asks,
  control,
  used,
}: ProveAnswer): readonly ProvenChange[] {
  const asked = asks.good + asks.bad
  return questions.map(({ key }) => {
    const others = together.filter((other) => other !== key)
    return {
      key,
      ...(others.length === 0 ? {} : { with: others }),
      model: model === '' ? 'unknown' : model,
      asked,
      good: asks.good,
      atLeast: leastRate(asks),
      control: `${control.good}/${control.good + control.bad}`,
      at: new Date().toISOString(),
      ...(used.costUsd === undefined ? {} : { costUsd: Math.round(used.costUsd * 10_000) / 10_000 }),
      judgedBy,
      steps,
    }
  })
}

/** The rate of good asks that is shown, rounded down. */
function leastRate({ good, bad }: ProveAnswer['asks']): number {
  return Math.floor(provenAtLeast(good, good + bad) * 100) / 100
}

/** The first ask that was not good, in the inbox. */
function saveBranch({ file, case: kase }: Unproven, { branch }: ProveAnswer, words: ProveWords): string | undefined {
  if (branch === undefined) return undefined
  const tape = readTape(resolve(dirname(file), kase.tape))
  const inbox = join(words.recordings, 'inbox')
  refuseLinks(words.recordings, inbox)
  mkdirSync(inbox, { recursive: true, mode: 0o700 })
  const seen = relative(resolve(inbox), tape.source).split(sep).join('/')
  const { id, text } = branchFor(seen, branch, tape)
  const saved = join(inbox, `${fileNameOf(id)}.tape.jsonl`)
  writeFileAtomic(saved, text)
  return saved
}

function print(cases: readonly ProvenCase[], spent: Spent | undefined, words: ProveWords, screen: Screen): void {
  if (words.isJson) return screen.json({ cases })
  for (const one of cases) {
    screen.line(`${one.verdict.padEnd(9)}  ${neutralLine(one.case)}  ${describe(one)}`)
    for (const reason of one.answer?.decision === 'proven' ? [] : (one.answer?.reasons.slice(0, 3) ?? []))
      screen.line(`           ${reason}`)
    if (one.saved !== undefined)
      screen.line(`           the first run that is not good: npx vitest-harvest show ${shellWord(one.saved)}`)
  }
  const used = cases.flatMap(({ answer }) => answer?.used ?? [])
  const earlier = cases.flatMap(({ answer }) => answer?.earlier ?? []).reduce(added, noUses)
  const before = earlier.calls === 0 ? 'all in this session' : `of which in earlier sessions ${useText(earlier)}`
  if (used.length > 0) screen.line(`${useText(used.reduce(added, noUses))}; ${before}`)
  // What a case without an answer used is in no sum.
  if (spent !== undefined && used.length < cases.length)
    screen.line(`in this session, with what was refused: ${usedText(spent)}`)
  const limits = {
    ...(words.costUsd === undefined ? {} : { costUsd: words.costUsd }),
    ...(words.tokens === undefined ? {} : { tokens: words.tokens }),
  }
  const dearest = cases.flatMap(({ answer }) => answer?.perGrade ?? []).reduce(mostOf, noUses)
  for (const line of passedLines(limits, used.reduce(added, noUses), dearest)) screen.line(line)
  if (cases.some(({ verdict }) => verdict === 'proven'))
    screen.line('→ to renew the pins of what is proven: npx vitest-harvest test --update-recordings=pins')
  for (const step of new Set(cases.flatMap(({ fix = [] }) => fix))) screen.line(`→ ${step}`)
  for (const { case: name, answer, expect, verdict } of cases) {
    if (expect === 'fail' && verdict !== 'proven')
      screen.line(`→ if its agent is fixed: npx vitest-harvest fix ${shellWord(name)}${dirOption(words.recordings)}`)
    if (answer?.decision === 'offline')
      screen.line(
        `→ to see how it ends with its tools run for real, side effects and all: npx vitest-harvest rerun ${shellWord(name)} --live --tools live --cross-version${dirOption(words.recordings)}`,
      )
    // More asks would not prove these.
    if (answer !== undefined && ['flaky', 'neither', 'offline', 'open'].includes(answer.decision))
      screen.line(
        `→ if you looked and it is meant: npx vitest-harvest accept ${shellWord(name)} --reason "…"${dirOption(words.recordings)}`,
      )
  }
}

function useText({ calls, tokens, costUsd }: Use): string {
  return `${counted(calls, 'model call')}, ${tokens} tokens, ${costText(costUsd)}`
}

function describe({ answer, problem, expect }: ProvenCase): string {
  if (problem !== undefined) return problem
  if (answer === undefined) return ''
  const { questions, asks, control, model } = answer
  const parts = [...new Set(questions.map(({ part }) => neutralLine(part)))].join(', ')
  const asked = asks.good + asks.bad
  const count = `${asks.good} of ${asked} good`
  const controls = `${control.good} of ${control.good + control.bad} with the recorded question`
  switch (answer.decision) {
    case 'proven':
      return `${parts} (${count}, at least ${leastRate(asks).toFixed(2)}, ${model}; ${controls})`
    case 'worse':
      return expect === 'fail'
        ? `${parts}: no longer as bad as recorded: ${asks.good} of ${asked} as bad, ${control.good} of ${control.good + control.bad} with the recorded question`
        : `${parts}: worse than recorded: ${count}, ${controls}`
    case 'neither':
      return `${parts}: not as recorded, and with the recorded question it is not either: ${count}, ${controls}`
    case 'flaky':
      return `${parts}: the agent is flaky with the recorded question too: ${count}, ${controls}`
    case 'offline':
      return `${parts}: cannot be proven offline: ${asks.ungraded} of ${asked + asks.ungraded} asks need what is not on the tape`
    case 'open':
      return `${parts}: still open: ${count}`
    case 'stopped':
      return `${parts}: stopped before it was decided: ${count} so far, ${controls}`
    case 'budget':
      return `${parts}: the budget is used up: ${count} so far`
    default:
      return answer.decision satisfies never
  }
}
