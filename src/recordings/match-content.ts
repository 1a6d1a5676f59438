import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { HarvestError } from '../errors/index.ts'
import type { PriceTable } from '../providers/index.ts'
import { type CompiledRule, compileRule, isTrueOfRun } from '../rules/index.ts'
import { readTape, type Tape } from '../tape/index.ts'
import { positionsOf } from '../trace/index.ts'
import { contentOf, readPositions, searchable } from './content.ts'
import type { TapeFilter } from './index-select.ts'

/** Where tapes are, and what models cost. */
export interface ContentSource {
  readonly root: string
  readonly prices: PriceTable | undefined
}

/** What a filter asks of the content of tapes. */
export interface ContentFilter {
  readonly text?: readonly string[]
  readonly call?: readonly CompiledRule[]
}

/**
 * Reads what a filter asks of contents, once.
 *
 * @throws HarvestError `HARVEST_RULE_…`
 */
export function contentFilterOf({ text = [], call = [] }: TapeFilter): ContentFilter | undefined {
  const list = <T>(given: T | readonly T[]): readonly T[] => (Array.isArray(given) ? given : [given as T])
  const texts = list(text).map(searchable)
  const rules = list(call).map((rule) => compileRule(rule))
  return texts.length === 0 && rules.length === 0 ? undefined : { text: texts, call: rules }
}

/** The tapes of an index, by their number there, whose content fits; of those that a condition lets through. */
export function tapesThatSay(
  database: DatabaseSync,
  { text = [], call = [] }: ContentFilter,
  among: { readonly sql: string; readonly values: readonly (string | number)[] },
  source: ContentSource,
): readonly number[] {
  const named = call.flatMap(literalName)
  const has = [...text.map(() => 'instr(content.text, ?) > 0'), ...named.map(() => 'instr(content.positions, ?) > 0')]
  const rows = database.prepare(
    `SELECT tape.id AS id, agent, ${call.length === 0 ? "''" : 'content.positions'} AS positions, content.tape IS NULL AS isUnread,
       CASE folder.path WHEN '' THEN name ELSE folder.path || '/' || name END AS path
     FROM tape JOIN detail ON detail.tape = tape.id JOIN folder ON folder.id = tape.folder
     LEFT JOIN content ON content.tape = tape.id
     WHERE tape.id IN (SELECT id FROM tape WHERE ${among.sql}) AND outcome <> 'unreadable' AND (content.tape IS NULL OR (${['1', ...has].join(' AND ')}))`,
  )
  const found: number[] = []
  for (const row of rows.iterate(
    ...among.values,
    ...text,
    ...named.map((name) => JSON.stringify({ name }).slice(1, -1)),
  )) {
    const fromTape = row['isUnread'] === 1 || call.some(asksForCost)
    const fits = fromTape
      ? saysOnTape(join(source.root, String(row['path'])), { text, call }, source.prices)
      : holds(call, () => readPositions(String(row['positions']), agentOf(row['agent'])))
    if (fits) found.push(Number(row['id']))
  }
  return found
}

function holds(rules: readonly CompiledRule[], read: () => ReturnType<typeof readPositions>): boolean {
  if (rules.length === 0) return true
  const run = read()
  return rules.every((rule) => isTrueOfRun(rule, run))
}

/** A tape that is too large to be in the index, or a question about its cost: the tape itself is asked. */
function saysOnTape(file: string, { text = [], call = [] }: ContentFilter, prices: PriceTable | undefined): boolean {
  const tape = tapeAt(file)
  if (tape === undefined) return false
  const said = text.length === 0 ? '' : contentOf(tape).text
  return text.every((wanted) => said.includes(wanted)) && holds(call, () => positionsOf(tape, prices ?? {}))
}

/** Gone or damaged since it was listed: it says nothing, and the list names it when it is read again. */
function tapeAt(file: string): Tape | undefined {
  try {
    return lstatSync(file, { throwIfNoEntry: false })?.isFile() === true ? readTape(file) : undefined
  } catch (error) {
    if (HarvestError.is(error)) return undefined
    throw error
  }
}

/** The tool that has to be called for a rule to be true, where it says so. */
function literalName({ expression }: CompiledRule): readonly string[] {
  if (expression.type !== 'atom' || expression.atom.kind !== 'call') return []
  const { name } = expression.atom
  return name.includes('*') ? [] : [name]
}

function asksForCost({ measures }: CompiledRule): boolean {
  return measures.includes('cost')
}

function agentOf(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  return value.startsWith('"') ? (JSON.parse(value) as string) : value
}
