import { dirname, join, resolve, sep } from 'node:path'
import { here, printedPath } from '../../errors/here.ts'
import { HarvestError, neutral, neutralLine } from '../../errors/index.ts'
import {
  keepShared,
  listCases,
  placePromotion,
  preparePromotion,
  type PromoteOptions,
  type Promotion,
  refreshShared,
} from '../../recordings/index.ts'
import { type Json, readTape } from '../../tape/index.ts'
import { askText, askYesNo, canAsk } from '../ask.ts'
import { promoteSpec } from '../spec/test.ts'
import type { Command, CommandInput } from '../command.ts'
import { exit, exitCodeOf } from '../exit.ts'
import { findTapeFile, openRun } from '../find.ts'
import { isRightSaid, printSteps, rightText, stepsOfKnownBad, stepsToRun, testsElsewhere } from '../next-steps.ts'
import { choose } from '../choose.ts'
import { refuseOtherPackage } from '../other-package.ts'
import { badValue, usage } from '../parse.ts'
import { typedAgain } from '../typed-again.ts'
import { pinnedConstants } from '../pinned-constants.ts'
import type { Screen } from '../../report/output.ts'

/** Makes a case of a tape: `npx vitest-harvest promote <tape> --as <id>`. */
export const promoteCommand: Command = {
  ...promoteSpec,
  async run(given, screen) {
    const options = await withRight(optionsOf(given, screen), given, screen)
    const constants = await pinnedConstants(options.tape)
    const promotion = await prepared({ ...options, constants }, given, screen)
    // What grades and what replays is most of the program: loaded where it is needed.
    if (promotion.content.expect === 'fail') await (await import('../known-bad.ts')).refuseGood(promotion, screen)
    if (!given.has('unverified')) screen.progress(`replaying ${promotion.content.tape} before it is written`)
    const replay = given.has('unverified') ? undefined : await import('../preflight.ts')
    const preflight = await replay?.runPreflight(promotion)
    const verdict = preflight === undefined ? null : replay?.writtenVerdict(preflight)
    if (preflight?.isGreen === false && replay !== undefined) {
      const error = await replay.wouldBeRed(preflight, promotion)
      if (!given.has('json')) throw error
      screen.json({ error: error.toJSON(), verdict })
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
        verdict,
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
    screen.line(screen.paint('bold', printedPath(caseFile)))
    for (const line of text.trimEnd().split('\n')) screen.line(screen.paint('green', `+ ${neutral(line)}`))
    screen.line(screen.paint('bold', printedPath(tapeFile)))
    const size = `+ ${(promotion.bytes.length / 1024).toFixed(1)} KB`
    if (preflight === undefined) screen.line(`${size}, not replayed`)
    else for (const line of replay?.preflightLines(size, content, preflight) ?? []) screen.line(line)
    for (const { method, url } of shared)
      screen.line(`shared: ${neutralLine(`${method} ${url}`, 200)}, which the process had already`)
    for (const file of sharedFiles) screen.line(`  kept once for all cases: ${printedPath(file)}`)
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
    for (const line of testsElsewhere(given.value('dir'))) screen.line(line)
    printSteps(stepsToRun(content.id, 'to run its test, after you read it', given.value('dir')), (text) =>
      screen.line(text),
    )
    if (content.expect === 'fail') await printKnownBad(promotion, given, screen)
    return exit.ok
  },
}

/** A known-bad case is half a lesson: what would have been right is what a fix is graded by. */
async function withRight(options: PromoteOptions, given: CommandInput, screen: Screen): Promise<PromoteOptions> {
  const { ok = [], bad = [], oracle, expect } = options
  if (ok.length + bad.length > 0) {
    const { parseExpectation } = await import('../../blame/expectation.ts')
    for (const text of ok) parseExpectation(text, '--ok')
    for (const text of bad) parseExpectation(text, '--bad')
  }
  const isSaid = ok.length + bad.length > 0 || oracle !== undefined
  if (isSaid || expect !== 'fail' || given.has('json') || !canAsk()) return options
  screen.note('What would have been right? A call or a value: refund(amount: 25), refunded=25')
  const answer = await askText('Right (Enter: say it later): ')
  return answer === undefined || answer === '' ? options : withRight({ ...options, ok: [answer] }, given, screen)
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

/** The tape of a known-bad case is a bad run under another name, too. */
function usualExpect(tape: string, recordings: string, screen: Screen): 'fail' | 'pass' {
  if (!isBelow(tape, join(recordings, 'golden'))) return 'pass'
  const bad = listCases(recordings).find(
    ({ file, case: kase }) => kase?.expect === 'fail' && resolve(dirname(file), kase.tape) === resolve(tape),
  )
  if (bad === undefined) return 'pass'
  screen.note(
    `${neutralLine(bad.case?.id ?? '', 80)} is known bad, so this case is too\n→ if the run is good: ${typedAgain({ expect: 'pass' })}`,
  )
  return 'fail'
}

function isBelow(file: string, folder: string): boolean {
  return resolve(file).startsWith(resolve(folder) + sep)
}

function optionsOf(given: CommandInput, screen: Screen): PromoteOptions {
  const as = given.value('as')
  if (as === undefined)
    throw usage(promoteCommand, 'HARVEST_CLI_ARGUMENT', 'promote needs --as <id>', ["with one: --as '<id>'"])
  const recordings = given.value('dir') ?? 'recordings'
  const tape = findTapeFile(given.args[0] ?? '', recordings, { isExact: true })
  refuseOtherPackage(tape, recordings)
  const expect = choose(given, 'expect', ['pass', 'fail'], promoteCommand) ?? usualExpect(tape, recordings, screen)
  const optional = (option: string, name: string): Record<string, string> => {
    const value = given.value(option)
    return value === undefined ? {} : { [name]: value }
  }
  const outcome = given.value('outcome')
  const lesson = { ...optional('lesson-wrong', 'wrong'), ...optional('lesson-right', 'right') }
  return {
    recordings,
    tape,
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
