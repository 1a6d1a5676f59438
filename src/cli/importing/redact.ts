import { isMap } from '../../json/canonical.ts'
import { readFileSync } from 'node:fs'
import { neutralLine } from '../../errors/index.ts'
import { createRedactor, type RedactorOptions, rulesOfData, rulesOfTape } from '../../privacy/index.ts'
import { type Json, readTape, type RecordedRules } from '../../tape/index.ts'

/**
 * The redaction rules of an application: those in the header of a tape that its recorder wrote, or the `redact` option
 * of the recorder as JSON, with `pattern` as text and `flags` beside it (default `g`).
 *
 * @param refuse - the error for a file that says neither
 * @throws HarvestError `HARVEST_PRIVACY_OPTION` for a rule that cannot work, and what `readTape` throws
 */
export function redactIn(file: string, refuse: (problem: string) => Error): RedactorOptions {
  if (file.endsWith('.tape.jsonl')) {
    const tape = readTape(file)
    if (tape.header.redact === undefined) throw refuse('the recorder of this tape had no rules of its own')
    return rulesOfTape(tape)
  }
  const options = rulesOfData(recordedRules(valueIn(file, refuse), refuse))
  // What cannot work is reported before a file is read.
  createRedactor(options)
  return options
}

function valueIn(file: string, refuse: (problem: string) => Error): Json {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Json
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    throw refuse(code === undefined ? `it is not JSON: ${neutralLine(message, 80)}` : `it cannot be read (${code})`)
  }
}

const lists = ['keys', 'headers', 'off', 'on', 'keep', 'allow'] as const
const ofRule = ['kind', 'pattern', 'flags', 'placeholder']

/** A name that is not known is refused: a secret that was meant would stay where it is. */
function recordedRules(value: Json, refuse: (problem: string) => Error): RecordedRules {
  if (!isMap(value)) throw refuse('it is not a map')
  const unknown = Object.keys(value).find((name) => name !== 'rules' && !lists.some((known) => known === name))
  if (unknown !== undefined) throw refuse(`${neutralLine(unknown, 40)} is not one of ${lists.join(', ')}, rules`)
  const wrong = lists.find((name) => value[name] !== undefined && !isTexts(value[name]))
  if (wrong !== undefined) throw refuse(`${wrong} is not a list of texts`)
  const { rules = [] } = value
  if (!Array.isArray(rules)) throw refuse('rules is not a list')
  return { ...(value as RecordedRules), rules: rules.map((rule: Json, index) => ruleOf(rule, index, refuse)) }
}

function ruleOf(
  rule: Json,
  index: number,
  refuse: (problem: string) => Error,
): NonNullable<RecordedRules['rules']>[number] {
  const isRule =
    isMap(rule) &&
    Object.keys(rule).every((name) => ofRule.includes(name)) &&
    Object.values(rule).every((one) => typeof one === 'string')
  const { kind, pattern, ...rest } = (isRule ? rule : {}) as { readonly [name: string]: string | undefined }
  if (kind === undefined || pattern === undefined)
    throw refuse(`rules[${index}] is no map of texts with kind, pattern, and perhaps flags and placeholder`)
  return { flags: 'g', ...rest, kind, pattern }
}

function isTexts(value: Json | undefined): boolean {
  return Array.isArray(value) && value.every((one: Json) => typeof one === 'string')
}
