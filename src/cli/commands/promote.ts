import { join, relative } from 'node:path'
import { HarvestError, neutral, neutralLine } from '../../errors/index.ts'
import { placePromotion, preparePromotion, type PromoteOptions, type Promotion } from '../../store/index.ts'
import { type Json, outcomeNotCompared } from '../../tape/index.ts'
import { askText, canAsk } from '../ask.ts'
import { type CommandSpec, type Given, jsonOption } from '../command.ts'
import { exit, exitCodeOf } from '../exit.ts'
import { findTapeFile } from '../find.ts'
import { usage } from '../parse.ts'
import { countsByKind, type ReplayReport, verdictLine } from '../report.ts'
import { pinnedConstants } from '../pinned-constants.ts'
import { type Rehearsal, rehearse, wouldBeRed } from '../rehearse.ts'
import type { Screen } from '../screen.ts'
import { driftLine } from './replay.ts'

/** Makes a case of a tape: `harvest promote <tape> --as <id>`. */
export const promoteCommand: CommandSpec = {
  name: 'promote',
  args: '<tape>',
  about: 'Make a test of a tape: writes its case, with the baseline, and a copy of it into the golden set',
  options: [
    { flag: '--as <id>', about: 'Id of the case; becomes its file name' },
    { flag: '--group <name>', about: 'Folder below golden/ (default: none)' },
    { flag: '--agent <name>', about: 'Agent to replay with (default: the one the tape names)' },
    {
      flag: '--expect <outcome>',
      about: 'pass, or fail for a known-bad incident that is not fixed yet (default: pass)',
    },
    { flag: '--title <text>', about: 'What the case is about' },
    { flag: '--tag <name>', about: 'A tag of the case; may be repeated', many: true },
    { flag: '--lesson-wrong <text>', about: 'What went wrong in this run' },
    { flag: '--lesson-right <text>', about: 'What would have been right' },
    { flag: '--dir <folder>', about: 'Folder with inbox/ and golden/ (default: recordings)' },
    { flag: '--oracle <file#export>', about: 'Function that grades runs, for blame and fork: ./src/oracle.ts#isRight' },
    {
      flag: '--outcome <json>',
      about: `What the agent must return, such as '{"refunded":25}' (default: what the tape says)`,
    },
    { flag: '--baseline', about: 'The outcome of the import is unknown: check its tool calls alone' },
    { flag: '--accept-unsearched', about: 'Promote a tape that lacks bodies nobody could search for secrets' },
    { flag: '--accept-cut', about: 'Bodies of the tape are cut, and the agent does not read so far' },
    { flag: '--unverified', about: 'Write the case without replaying its tape first; it may be red' },
    jsonOption,
  ],
  examples: [
    'promote latest --as refund-broken-item',
    'promote recordings/inbox/run.tape.jsonl --as refund-100x --expect fail --tag incident',
  ],
  async run(given, screen) {
    const options = optionsOf(given)
    const constants = await pinnedConstants(options.tape)
    const promotion = await prepared({ ...options, constants }, given, screen)
    const rehearsal = given.has('unverified') ? undefined : await replayed(promotion, screen)
    if (rehearsal?.isGreen === false) {
      const error = wouldBeRed(rehearsal, promotion)
      if (!given.has('json')) throw error
      screen.json({ error: error.toJSON(), verdict: writtenVerdict(rehearsal) })
      return exitCodeOf(error)
    }
    const { caseFile, tapeFile, content, text } = placePromotion(promotion)
    if (given.has('json')) {
      const { drift, notCompared, transcoded, receipt } = rehearsal?.run.report ?? {}
      const outcomeEqual = receipt?.outcomeEqual
      const facts = { exact: rehearsal?.isExact, drift, notCompared, transcoded, outcomeEqual }
      screen.json({
        case: here(caseFile),
        tape: here(tapeFile),
        id: content.id,
        agent: content.agent,
        expect: content.expect,
        verdict: rehearsal === undefined ? null : writtenVerdict(rehearsal),
        replayed: rehearsal === undefined ? null : facts,
        droppedHeaders: promotion.droppedHeaders,
        text,
      })
      return exit.ok
    }
    screen.line(screen.paint('bold', here(caseFile)))
    for (const line of text.trimEnd().split('\n')) screen.line(screen.paint('green', `+ ${neutral(line)}`))
    screen.line(screen.paint('bold', here(tapeFile)))
    screen.line(describeTape(promotion, rehearsal))
    if (rehearsal !== undefined) screen.line(verdictLine(content.id, { verdict: writtenVerdict(rehearsal) }, []))
    if (promotion.droppedHeaders.length > 0) {
      const names = promotion.droppedHeaders.map((name) => neutral(name))
      screen.line(`request headers not recorded: ${names.join(', ')}`)
      const option = `redact: { headers: [${names.map((name) => `'${name}'`).join(', ')}] }`
      screen.line(`  to record and compare them: ${option}, then record again`)
    }
    screen.line()
    screen.line(`Look it over, then run it: npx vitest run`)
    return exit.ok
  },
}

/** Reads and checks everything. At a terminal it asks what to check where the import did not see the outcome. */
async function prepared(options: PromoteOptions, given: Given, screen: Screen): Promise<Promotion> {
  try {
    return preparePromotion(options)
  } catch (error) {
    if (!HarvestError.is(error, 'HARVEST_PROMOTE_OUTCOME') || given.has('json') || !canAsk()) throw error
    screen.note(`The import did not see how this run ended: its outcome is unknown.`)
    const answer = await askText('Oracle (./src/oracle.ts#isRight), or Enter to check the recorded tool calls alone: ')
    if (answer === undefined) throw error
    return preparePromotion({ ...options, ...(answer === '' ? { baselineOnly: true } : { oracle: answer }) })
  }
}

/** Replays the tape as its case will. */
function replayed(promotion: Promotion, screen: Screen): Promise<Rehearsal> {
  screen.progress(`replaying ${promotion.content.tape} before it is written`)
  return rehearse(promotion)
}

/** By its case, in the shape that every command writes. */
function writtenVerdict({ run: { verdict, report } }: Rehearsal): ReplayReport['verdict'] {
  const { verdict: name, differences, unproven, accepted, notJudged } = verdict ?? report.verdict
  return { verdict: name, differences, unproven, accepted, notJudged }
}

function describeTape({ bytes, content }: Promotion, rehearsal: Rehearsal | undefined): string {
  const size = `+ ${(bytes.length / 1024).toFixed(1)} KB`
  if (rehearsal === undefined) return `${size}, not replayed`
  const { isExact, run } = rehearsal
  const { drift, notCompared, receipt } = run.report
  const outcome = receipt.outcomeEqual === null ? `; outcome: ${outcomeNotCompared}` : ''
  const held = isExact ? 'replayed bit for bit' : `replayed; drift: ${driftLine(drift) || 'none'}${outcome}`
  const how =
    notCompared.length === 0 ? held : `${held}; not compared: ${countsByKind(notCompared.map(({ kind }) => kind))}`
  return `${size}, ${how}${content.expect === 'fail' ? ': the known bad run, reproduced' : ''}`
}

function optionsOf(given: Given): PromoteOptions {
  const as = given.value('as')
  if (as === undefined) throw usage(promoteCommand, 'HARVEST_CLI_ARGUMENT', 'promote needs --as <id>')
  const expect = given.value('expect') ?? 'pass'
  if (expect !== 'pass' && expect !== 'fail') {
    throw usage(promoteCommand, 'HARVEST_CLI_ARGUMENT', `--expect is pass or fail, not ${expect}`)
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
    ...optional('group', 'group'),
    ...optional('agent', 'agent'),
    ...optional('title', 'title'),
    ...optional('oracle', 'oracle'),
    ...(outcome === undefined ? {} : { outcome: outcomeIn(outcome) }),
    ...(given.has('baseline') ? { baselineOnly: true } : {}),
    ...(given.has('accept-unsearched') ? { acceptUnsearched: true } : {}),
    ...(given.has('accept-cut') ? { acceptCut: true } : {}),
    ...(Object.keys(lesson).length === 0 ? {} : { lesson }),
  }
}

function outcomeIn(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch (cause) {
    const why = (cause as Error).message
    throw usage(
      promoteCommand,
      'HARVEST_CLI_ARGUMENT',
      `Invalid --outcome: expected JSON, got ${neutralLine(text, 60)} (${why})`,
      [`put a text in quotes of its own: --outcome '"refunded"'`],
    )
  }
}

function here(file: string): string {
  return relative('.', join(file))
}
