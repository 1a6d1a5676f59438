import { createContext, Script } from 'node:vm'
import { HarvestError, neutralLine } from '../errors/index.ts'
import {
  eighthRedactorFlag,
  eleventhRedactorFlag,
  fifthRedactorFlag,
  fourthRedactorFlag,
  headersFlag,
  ninthRedactorFlag,
  redactorFlag,
  type RecordedRules,
  secondRedactorFlag,
  seventhRedactorFlag,
  sixthRedactorFlag,
  type Tape,
  tenthRedactorFlag,
  thirdRedactorFlag,
  thirteenthRedactorFlag,
  twelfthRedactorFlag,
} from '../tape/index.ts'
import {
  eighthFinders,
  eleventhFinders,
  fifthFinders,
  firstFinders,
  fourthFinders,
  ninthFinders,
  secondFinders,
  seventhFinders,
  sixthFinders,
  tenthFinders,
  thirdFinders,
  thirteenthFinders,
  twelfthFinders,
} from './earlier.ts'
import { type Finders, findersOfNow } from './engine.ts'
import { foreign, refusalOf, type Guard, type Watch } from './foreign.ts'
import { patienceMs } from './pace.ts'
import { createRedactor, type PlaceholderNumbering, type Redactor } from './redactor.ts'
import type { RedactorOptions } from './types.ts'

/** Options that the project itself wrote as data. */
export function rulesOfData({ rules, ...rest }: RecordedRules): RedactorOptions {
  if (rules === undefined) return rest
  return { ...rest, rules: rules.map(({ flags, ...rule }) => ({ ...rule, pattern: patternOf(rule.pattern, flags) })) }
}

/** @param place - where a tape names the pattern: `a.tape.jsonl:1` */
function guardAt(place: string, pattern: RegExp): Guard {
  return {
    watch: newWatch,
    refusal: (problem) =>
      new HarvestError('HARVEST_PRIVACY_OPTION', {
        what: 'Invalid redaction options',
        where: { tape: place, pattern: neutralLine(pattern.toString(), 120), problem },
        why: "The pattern comes from the tape's header, not from the options of this project.",
        fix: ['if the tape is yours, bound the repetition, as in \\w{1,64} for \\w+, and record the run again'],
      }),
  }
}

const ofHeaders = new WeakMap<RecordedRules, RedactorOptions>()

/**
 * The options a tape was recorded with. Its patterns are a stranger's unless options of this process say the same: a redactor
 * runs them under a clock, and refuses those that take their time.
 */
export function rulesOfTape({ header: { redact }, source }: RuledTape): RedactorOptions {
  if (redact === undefined) return {}
  const known = ofHeaders.get(redact)
  if (known !== undefined) return known
  const options = rulesOfData(redact)
  for (const { pattern } of options.rules ?? []) foreign(pattern, guardAt(`${source}:1`, pattern))
  ofHeaders.set(redact, options)
  return options
}

/**
 * What a run over a tape comes to when one of its patterns was stopped on the way, no matter what the agent did then.
 *
 * @throws HarvestError `HARVEST_PRIVACY_OPTION`
 */
export function requireNoSlowRule(tape: RuledTape): void {
  for (const { pattern } of rulesOfTape(tape).rules ?? []) {
    const refusal = refusalOf(pattern)
    if (refusal !== undefined) throw refusal
  }
}

/** What a redactor has to know of a tape. */
interface RuledTape {
  readonly header: Pick<Tape['header'], 'redact' | 'flags'>
  readonly source: string
}

/** A redactor that does with live requests what the recorder of a tape did with its own. */
export function redactorOfTape(tape: RuledTape, { keys = true, ...rest }: PlaceholderNumbering = {}): Redactor {
  const { flags } = tape.header
  return createRedactor(rulesOfTape(tape), {
    ...rest,
    keys: flags.includes(headersFlag) && keys,
    finders: findersOfTape(flags),
  })
}

function findersOfTape(flags: readonly string[]): Finders {
  if (flags.includes(redactorFlag)) return findersOfNow
  if (flags.includes(thirteenthRedactorFlag)) return thirteenthFinders
  if (flags.includes(twelfthRedactorFlag)) return twelfthFinders
  if (flags.includes(eleventhRedactorFlag)) return eleventhFinders
  if (flags.includes(tenthRedactorFlag)) return tenthFinders
  if (flags.includes(ninthRedactorFlag)) return ninthFinders
  if (flags.includes(eighthRedactorFlag)) return eighthFinders
  if (flags.includes(seventhRedactorFlag)) return seventhFinders
  if (flags.includes(sixthRedactorFlag)) return sixthFinders
  if (flags.includes(fifthRedactorFlag)) return fifthFinders
  if (flags.includes(fourthRedactorFlag)) return fourthFinders
  if (flags.includes(thirdRedactorFlag)) return thirdFinders
  return flags.includes(secondRedactorFlag) ? secondFinders : firstFinders
}

function patternOf(pattern: string, flags: string): RegExp {
  try {
    return new RegExp(pattern, flags)
  } catch (cause) {
    throw new HarvestError(
      'HARVEST_PRIVACY_OPTION',
      {
        what: 'Invalid redaction pattern in the header of the tape',
        where: { pattern: neutralLine(pattern) },
        fix: [
          "the header was edited or damaged; to see by whom: git log -p -- '<the tape>'",
          'or record the run again',
        ],
      },
      { cause },
    )
  }
}

const begunLength = 1 << 16
/** What running one text costs beside the pattern, in milliseconds. */
const freeMs = 5
/** A pattern may go over its allowance by this in all, in milliseconds of the processor. */
const excessCapMs = 1_000
/** By the clock, for one text and each 64 KB of it: the processor is shared. */
const clockMs = 1_000

/**
 * Runs a pattern of a tape, text by text, and stops it by the clock. Whoever wrote the pattern wrote the texts as well, so
 * that no text of ours shows how long it can take.
 */
function newWatch(): Watch {
  let excessMs = 0
  return (length, work) => {
    if (excessMs > excessCapMs) return undefined
    const begun = Math.ceil(Math.max(1, length) / begunLength)
    const begin = process.cpuUsage()
    const result = stoppable(work, clockMs * begun)
    if (result === undefined) {
      excessMs = Infinity
      return undefined
    }
    const { user, system } = process.cpuUsage(begin)
    const allowed = freeMs + (patienceMs * Math.max(1, length)) / begunLength
    excessMs += Math.max(0, (user + system) / 1_000 - allowed)
    return excessMs > excessCapMs ? undefined : result.value
  }
}

const held: { work: () => unknown } = { work: () => {} }
const context = { held }
let script: Script | undefined

function stoppable<T>(work: () => T, timeout: number): { readonly value: T } | undefined {
  if (script === undefined) {
    createContext(context)
    script = new Script('held.work()')
  }
  held.work = work
  try {
    return { value: script.runInContext(context, { timeout }) as T }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
    return undefined
  }
}
