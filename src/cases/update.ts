import { at, canonicalJson, isList, isMap, type JsonMap } from '../json/canonical.ts'
import type { CasePins } from '../provenance/index.ts'
import { presentValue } from '../tape/present.ts'
import type { Json } from '../tape/types.ts'
import {
  exactIn,
  exactly,
  holdsWildcard,
  isWhole,
  matchOutcome,
  mergeBaseline,
  onlyIn,
  type Trace,
  withExact,
  withOnly,
} from '../trace/index.ts'
import { parseCase } from './parse.ts'
import { expectedError, throwing } from './thrown.ts'
import { removeField, replaceField, rewriteDocument, spliceField } from './splice.ts'
import type {
  AcceptedChange,
  Case,
  CaseApproval,
  CaseContent,
  CaseExpectation,
  CaseMark,
  CaseMessage,
  CaseState,
  ProvenChange,
} from './types.ts'
import { fieldsOf, says, unwritable } from './write.ts'
import { parseYaml } from './yaml.ts'

/** What an update may rewrite; what is left out stays. */
export interface CaseChanges {
  /** The trace of the accepted run; hand-written items that match it stay as they are. */
  readonly baseline?: Trace
  /** Tools of which the accepted run leaves recorded calls out: those it makes are written with their arguments. */
  readonly exactly?: readonly string[]
  /** What the accepted run returned; of an outcome that is already asserted only the parts that differ are rewritten. */
  readonly outcome?: Json
  /** The outcome on the tape, as a case says it: what is asserted with all its keys gets the new ones too. */
  readonly recorded?: Json
  /** The messages between agents of the accepted run. */
  readonly messages?: readonly CaseMessage[]
  readonly marks?: readonly CaseMark[]
  /** All states that are other ones than on the tape; an empty list takes them out of the case. */
  readonly states?: readonly CaseState[]
  readonly pins?: CasePins
  readonly approved?: CaseApproval
  readonly expect?: CaseExpectation
  /** The whole list. */
  readonly accepted?: readonly AcceptedChange[]
  /** The whole list. */
  readonly proven?: readonly ProvenChange[]
}

/** What a case says from now on of another tape than before. */
export interface CaseReplacement
  extends Pick<
    CaseContent,
    'tape' | 'expect' | 'pins' | 'outcome' | 'lesson' | 'replaces' | 'history' | 'ok' | 'bad' | 'oracle'
  > {
  readonly baseline: Trace
  /** Who runs it now. Default: who did. */
  readonly agent?: string
}

/** What was said of the former tape alone. */
const ofTheTape = ['messages', 'marks', 'states', 'approved', 'accepted', 'proven', 'constants'] as const

/**
 * Puts another tape in the place of the one a case had. What was said of the former tape alone goes, and hand-written items
 * of the baseline stay where the new run has such calls; every other character stays.
 *
 * @throws as {@link updateCase}
 */
export function replaceTape(text: string, { baseline, ...fields }: CaseReplacement, file = 'case'): string {
  const { match, baseline: before = [], outcome } = parseCase(text, file)
  const set: Readonly<Record<string, unknown>> = { ...fields, baseline: mergeBaseline(before, baseline, match) }
  let result = text
  for (const name of [...ofTheTape, ...(fields.outcome === undefined && outcome !== undefined ? ['outcome'] : [])])
    result = removeFrom(result, name, file)
  for (const [name, value] of Object.entries(set))
    if (value !== undefined) result = updateField(result, name, value as Json, file)
  return result
}

function removeFrom(text: string, name: string, file: string): string {
  const wanted = new Map(fieldsOf(parseCase(text, file)))
  if (!wanted.delete(name)) return text
  const document = parseYaml(text, [])
  const result = document === undefined ? undefined : removeField(text, document, name)
  if (result !== undefined && says(result, wanted, file)) return result
  throw unwritable(name, file)
}

/**
 * Rewrites the fields of a case file that changed, and nothing else: every other character stays, comments included.
 *
 * Returns the same text when nothing changes, and so does a second update with the same changes. What is returned was
 * read back and says what was asked for.
 *
 * @param file - names the case in errors
 * @throws what {@link parseCase} throws, for the text as it is and for what would become of it
 */
export function updateCase(text: string, changes: CaseChanges, file = 'case'): string {
  let result = changes.states?.length === 0 ? removeFrom(text, 'states', file) : text
  for (const [name, value] of newFields(parseCase(text, file), changes)) result = updateField(result, name, value, file)
  return result
}

function newFields({ match, baseline, outcome }: Case, changes: CaseChanges): ReadonlyMap<string, Json> {
  const fields = new Map<string, Json>()
  const set = (name: string, value: unknown) => {
    if (value !== undefined) fields.set(name, value as Json)
  }
  set('expect', changes.expect)
  set('pins', changes.pins)
  if (changes.baseline !== undefined)
    set('baseline', mergeBaseline(baseline ?? [], changes.baseline, match, changes.exactly))
  if (changes.outcome !== undefined) {
    const recorded = changes.recorded && presentValue(changes.recorded)
    set('outcome', outcomeOf(outcome, presentValue(changes.outcome), recorded))
  }
  set('messages', changes.messages)
  set('marks', changes.marks)
  if (changes.states?.length !== 0) set('states', changes.states)
  set('approved', changes.approved)
  set('accepted', changes.accepted)
  set('proven', changes.proven)
  return fields
}

/** What was accepted leaves nothing open that the case did not leave open: it has no other key, and its texts are no wildcards. */
function outcomeOf(expected: Json | undefined, actual: Json, recorded: Json | undefined): Json {
  const error = expectedError(actual)
  if (error === undefined)
    return expected === undefined ? exactly(actual, recorded) : mergeOutcome(expected, actual, recorded)
  const before = expected === undefined ? undefined : expectedError(expected)
  const isAll =
    before === undefined ||
    exactIn(before) !== undefined ||
    (recorded !== undefined && canonicalJson(expected!) === canonicalJson(recorded))
  // Of an error a case names a part as a rule.
  return throwing(isAll ? exactly(error, undefined) : mergeOutcome(before, error, undefined))
}

/** What is asserted of an outcome stays in its extent: `*` and keys that were not asserted are not filled in. */
function mergeOutcome(expected: Json, actual: Json, recorded: Json | undefined): Json {
  // A text `*` that was recorded is a value.
  if (expected === '*') return recorded === '*' ? exactly(actual, recorded) : expected
  const holdsValue = recorded !== undefined && holdsWildcard(recorded)
  if (!holdsValue && matchOutcome(expected, actual, recorded).equal) return expected
  if (isList(expected) && isList(actual) && expected.length === actual.length) {
    const before = isList(recorded) ? recorded : []
    return expected.map((item, index) => mergeOutcome(item, actual[index] ?? null, before[index]))
  }
  const said = onlyIn(expected) ?? expected
  if (exactIn(expected) !== undefined) return withExact(actual)
  if (!isPlainMap(said) || !isPlainMap(actual)) return exactly(actual, recorded)
  const known = Object.keys(said).filter((key) => Object.hasOwn(actual, key))
  const isClosed = said !== expected || isWhole(said, recorded)
  const more = isClosed ? Object.keys(actual).filter((key) => !Object.hasOwn(said, key)) : []
  const merged = Object.fromEntries(
    [...known, ...more].map((key) => [
      key,
      known.includes(key)
        ? mergeOutcome(said[key]!, actual[key]!, at(recorded, key))
        : exactly(actual[key]!, at(recorded, key)),
    ]),
  )
  const isRead = exactIn(merged) !== undefined || onlyIn(merged) !== undefined
  return isClosed && (said !== expected || isRead || !isWhole(merged, recorded)) ? withOnly(merged) : merged
}

/** One without a type of its own: an error, a date. */
function isPlainMap(value: Json): value is JsonMap {
  return isMap(value) && value['$type'] === undefined
}

/** The smallest edit first; each is read back, so that an unforeseen layout costs comments, and never what the case asserts. */
function updateField(text: string, name: string, value: Json, file: string): string {
  const wanted = new Map([...fieldsOf(parseCase(text, file)), [name, value]])
  for (const edit of [spliceField, replaceField, rewriteDocument]) {
    const document = parseYaml(text, [])
    const result = document === undefined ? undefined : edit(text, document, name, value)
    if (result !== undefined && says(result, wanted, file)) return result
  }
  throw unwritable(name, file)
}
