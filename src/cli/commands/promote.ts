import { here } from '../../errors/here.ts'
import { chooseJudging } from '../../blame/choose-oracle.ts'
import { parseExpectation } from '../../blame/expectation.ts'
import { gradeRecorded } from '../../blame/grade-task.ts'
import { requireKnownNames } from '../../blame/known-names.ts'
import { createOracle } from '../../blame/oracle.ts'
import { HarvestError, neutral, neutralLine } from '../../errors/index.ts'
import {
  keepShared,
  placePromotion,
  preparePromotion,
  type PromoteOptions,
  type Promotion,
  refreshShared,
} from '../../recordings/index.ts'
import { type Json, outcomeNotCompared, readTape } from '../../tape/index.ts'
import { askText, askYesNo, canAsk } from '../ask.ts'
import { promoteSpec } from '../spec/test.ts'
import type { Command, CommandInput } from '../command.ts'
import { exit, exitCodeOf } from '../exit.ts'
import { findTapeFile, openRun } from '../find.ts'
import { isRightSaid, printSteps, rightText, stepsOfKnownBad } from '../next-steps.ts'
import { badValue, usage } from '../parse.ts'
import { countsByKind, driftLine, type ReplayChildReport, verdictLine } from '../report.ts'
import { pinnedConstants } from '../pinned-constants.ts'
import { type Preflight, runPreflight, wouldBeRed } from '../preflight.ts'
import type { Screen } from '../../report/output.ts'

/** Makes a case of a tape: `npx vitest-harvest promote <tape> --as <id>`. */
export const promoteCommand: Command = {
  ...promoteSpec,
  async run(given, screen) {
    const options = await withRight(optionsOf(given), given, screen)
    const constants = await pinnedConstants(options.tape)
    const promotion = await prepared({ ...options, constants }, given, screen)
    if (promotion.content.expect === 'fail') await refuseGood(promotion, screen)
    const preflight = given.has('unverified') ? undefined : await replayed(promotion, screen)
    if (preflight?.isGreen === false) {
      const error = wouldBeRed(preflight, promotion)
      if (!given.has('json')) throw error
      screen.json({ error: error.toJSON(), verdict: writtenVerdict(preflight) })
      return exitCodeOf(error)
    }
    const { caseFile, tapeFile, content, text } = placePromotion(promotion)
    const shared = preflight?.run.report.shared ?? []
    const sharedFiles = [
      ...keepShared(promotion.recordings, shared),
      ...refreshShared(promotion.recordings, readTape(promotion.source)),
    ]
    if (given.has('json')) {
      const { drift, notCompared, transcoded, comparison } = preflight?.run.report ?? {}
      const outcomeEqual = comparison?.outcomeEqual
      const facts = { exact: preflight?.isExact, drift, notCompared, transcoded, outcomeEqual }
      screen.json({
        case: here(caseFile),
        tape: here(tapeFile),
        id: content.id,
        agent: content.agent,
        expect: content.expect,
        verdict: preflight === undefined ? null : writtenVerdict(preflight),
        replayed: preflight === undefined ? null : facts,
        droppedHeaders: promotion.droppedHeaders,
        unrecorded: promotion.unrecorded,
        twins: promotion.twins,
        shared: shared.map(({ method, url }) => ({ method, url })),
        sharedFiles: sharedFiles.map(here),
        text,
      })
      return exit.ok
    }
    screen.line(screen.paint('bold', here(caseFile)))
    for (const line of text.trimEnd().split('\n')) screen.line(screen.paint('green', `+ ${neutral(line)}`))
    screen.line(screen.paint('bold', here(tapeFile)))
    screen.line(describeTape(promotion, preflight))
    if (preflight !== undefined) screen.line(verdictLine(content.id, { verdict: writtenVerdict(preflight) }, []))
    for (const { method, url } of shared)
      screen.line(`shared: ${neutralLine(`${method} ${url}`, 200)}, which the process had already`)
    for (const file of sharedFiles) screen.line(`  kept once for all cases: ${here(file)}`)
    for (const what of promotion.unrecorded) screen.line(`not recorded: ${neutral(what)}`)
    if (promotion.droppedHeaders.length > 0) {
      const names = promotion.droppedHeaders.map((name) => neutral(name))
      screen.line(`request headers not recorded: ${names.join(', ')}`)
      const option = `redact: { headers: [${names.map((name) => `'${name}'`).join(', ')}] }`
      screen.line(`  to record and compare them: ${option}, then record again`)
    }
    for (const { id, isSameInput } of promotion.twins)
      screen.line(
        `twin: ${neutralLine(id)} checks the same calls and outcome${isSameInput ? ', of the same input' : ''}`,
      )
    screen.line()
    printSteps([{ about: 'to run its test, after you read it', command: 'npx vitest run' }], (text) =>
      screen.line(text),
    )
    if (content.expect === 'fail') await printKnownBad(promotion, given, screen)
    return exit.ok
  },
}

/** A known-bad case is half a lesson: what would have been right is what a fix is graded by. */
async function withRight(options: PromoteOptions, given: CommandInput, screen: Screen): Promise<PromoteOptions> {
  const { ok = [], bad = [], oracle, expect } = options
  for (const [option, texts] of [['--ok', ok] as const, ['--bad', bad] as const])
    for (const text of texts) parseExpectation(text, option)
  const isSaid = ok.length + bad.length > 0 || oracle !== undefined
  if (isSaid || expect !== 'fail' || given.has('json') || !canAsk()) return options
  screen.note('What would have been right? A call or a value: refund(amount: 25), refunded=25')
  const answer = await askText('Right (Enter: say it later): ')
  return answer === undefined || answer === '' ? options : withRight({ ...options, ok: [answer] }, given, screen)
}

/** What is said to be right has to tell the recorded run from a right one; a function that grades is asked by those who use it. */
async function refuseGood({ source, content }: Promotion, screen: Screen): Promise<void> {
  const { id, ok = [], bad = [] } = content
  if (ok.length + bad.length === 0) return
  const tape = readTape(source)
  const judging = chooseJudging(tape, { ok, bad })
  const oracle = createOracle(judging)
  if ((await gradeRecorded(oracle, tape)) === 'ok') throw isGood(id, oracle.about)
  if (judging.by !== 'expectations') return
  try {
    for (const warning of requireKnownNames([...judging.ok, ...judging.bad], { tapes: [tape] })) screen.note(warning)
  } catch (error) {
    // The fixed agent may have a tool that this run never saw.
    if (!HarvestError.is(error, 'HARVEST_ORACLE_EXPECTATION')) throw error
    screen.note(error.facts.what)
  }
}

function isGood(id: string, by: string): HarvestError {
  return new HarvestError('HARVEST_ORACLE_OK', {
    what: 'The oracle grades the recorded run `ok`, so it is not a known-bad case',
    where: { case: id, 'graded by': by },
    why: 'The same oracle grades the fix later, so it must grade this run bad.',
    fix: [
      "name what a right run does: --ok 'refund(amount: 25)'",
      "or what it does not: --bad 'refund(amount: 2500)'",
      'if the run is right: promote it without --expect fail',
    ],
  })
}

async function printKnownBad({ content, source }: Promotion, given: CommandInput, screen: Screen): Promise<void> {
  printSteps(await stepsOfKnownBad(content, given.value('dir')), (text) => screen.line(text))
  if (!isRightSaid(content))
    screen.line(rightText(await openRun({ file: source, recordings: given.value('dir') ?? 'recordings' })))
}

/** Reads and checks everything. At a terminal it asks what only people know. */
async function prepared(options: PromoteOptions, given: CommandInput, screen: Screen): Promise<Promotion> {
  try {
    return preparePromotion(options)
  } catch (error) {
    if (given.has('json') || !canAsk()) throw error
    if (HarvestError.is(error, 'HARVEST_PROMOTE_EMPTY')) {
      screen.note(error.message)
      if (await askYesNo('Promote it all the same?')) return prepared({ ...options, acceptEmpty: true }, given, screen)
    }
    if (!HarvestError.is(error, 'HARVEST_PROMOTE_OUTCOME')) throw error
    screen.note(`The import did not see how this run ended: its outcome is unknown.`)
    const answer = await askText('Oracle (./src/oracle.ts#isRight), or Enter to check the recorded tool calls alone: ')
    if (answer === undefined) throw error
    return preparePromotion({ ...options, ...(answer === '' ? { baselineOnly: true } : { oracle: answer }) })
  }
}

/** Replays the tape as its case will. */
function replayed(promotion: Promotion, screen: Screen): Promise<Preflight> {
  screen.progress(`replaying ${promotion.content.tape} before it is written`)
  return runPreflight(promotion)
}

/** By its case, in the shape that every command writes. */
function writtenVerdict({ run: { verdict, report } }: Preflight): ReplayChildReport['verdict'] {
  const { verdict: name, differences, unproven, accepted, notJudged } = verdict ?? report.verdict
  return { verdict: name, differences, unproven, accepted, notJudged }
}

function describeTape({ bytes, content }: Promotion, preflight: Preflight | undefined): string {
  const size = `+ ${(bytes.length / 1024).toFixed(1)} KB`
  if (preflight === undefined) return `${size}, not replayed`
  const { isExact, run } = preflight
  const { drift, notCompared, comparison } = run.report
  const outcome = comparison.outcomeEqual === null ? `; outcome: ${outcomeNotCompared}` : ''
  const held = isExact ? 'replayed bit for bit' : `replayed; drift: ${driftLine(drift) || 'none'}${outcome}`
  const how =
    notCompared.length === 0 ? held : `${held}; not compared: ${countsByKind(notCompared.map(({ kind }) => kind))}`
  return `${size}, ${how}${content.expect === 'fail' ? ': the known bad run, reproduced' : ''}`
}

function optionsOf(given: CommandInput): PromoteOptions {
  const as = given.value('as')
  if (as === undefined) throw usage(promoteCommand, 'HARVEST_CLI_ARGUMENT', 'promote needs --as <id>')
  const expect = given.value('expect') ?? 'pass'
  if (expect !== 'pass' && expect !== 'fail') {
    throw badValue(promoteCommand, 'expect', expect, 'pass or fail')
  }
  const recordings = given.value('dir') ?? 'recordings'
  const optional = (option: string, name: string): Record<string, string> => {
    const value = given.value(option)
    return value === undefined ? {} : { [name]: value }
  }
  const outcome = given.value('outcome')
  const lesson = { ...optional('lesson-wrong', 'wrong'), ...optional('lesson-right', 'right') }
  return {
    recordings,
    tape: findTapeFile(given.args[0] ?? '', recordings, { isExact: true }),
    as,
    expect,
    tags: given.values('tag'),
    ok: given.values('ok'),
    bad: given.values('bad'),
    ...optional('folder', 'group'),
    ...optional('agent', 'agent'),
    ...optional('title', 'title'),
    ...optional('oracle', 'oracle'),
    ...(outcome === undefined ? {} : { outcome: outcomeIn(outcome) }),
    ...(given.values('allow-secret').length > 0 ? { rescan: { off: given.values('allow-secret') } } : {}),
    ...(given.has('baseline') ? { baselineOnly: true } : {}),
    ...(given.has('accept-unsearched') ? { acceptUnsearched: true } : {}),
    ...(given.has('accept-cut') ? { acceptCut: true } : {}),
    ...(given.has('accept-empty') ? { acceptEmpty: true } : {}),
    ...(Object.keys(lesson).length === 0 ? {} : { lesson }),
  }
}

function outcomeIn(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch (cause) {
    const why = (cause as Error).message
    throw badValue(promoteCommand, 'outcome', text, `JSON (${why})`, [
      `put a text in quotes of its own: --outcome '"refunded"'`,
    ])
  }
}
