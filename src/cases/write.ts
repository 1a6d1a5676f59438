import { sameJson } from '../json/same.ts'
import { HarvestError } from '../errors/index.ts'
import type { Json } from '../tape/types.ts'
import { parseCase } from './parse.ts'
import { renderPair, renderPairInQuotes } from './render.ts'
import { caseKeys } from './schema.ts'
import type { CaseContent } from './types.ts'

/** Where the schema lies, seen from `recordings/golden/<group>/`. */
const usualSchema = '../../../node_modules/vitest-harvest/case.schema.json'

/**
 * Writes a new case file: keys in fixed order, block style, 120 columns, ending in a line end.
 *
 * What is written was read back and is the same; text that Vitest would obey in a test file is escaped.
 *
 * @param options.schema - relative path of the JSON schema, for editors; default `../../../node_modules/vitest-harvest/case.schema.json`
 * @throws what `parseCase` throws when the content is no valid case
 */
export function writeCase(content: CaseContent, options: { readonly schema?: string } = {}): string {
  const fields = fieldsOf(content)
  const file = `${content.id}.case.yaml`
  const textBy = (render: (name: string, value: Json) => string) => {
    const pairs = [...fields].map(([name, value]) => render(name, value))
    return `# yaml-language-server: $schema=${options.schema ?? usualSchema}\n${pairs.join('')}`
  }
  const plain = textBy((name, value) => renderPair(name, value, 0))
  if (says(plain, fields, file)) return plain
  const inQuotes = textBy(renderPairInQuotes)
  // Its mistakes are those of the content: in quotes every text is read as it is.
  if (sameFields(fields, fieldsOf(parseCase(inQuotes, file)))) return inQuotes
  throw unwritable('case', file)
}

/** Whether a text is a case that says this. */
export function says(text: string, fields: ReadonlyMap<string, Json>, file: string): boolean {
  try {
    return sameFields(fields, fieldsOf(parseCase(text, file)))
  } catch (error) {
    // Not a case at all: whoever asks has another way of writing it, and tells when that fails too.
    if (HarvestError.is(error)) return false
    throw error
  }
}

/** A value that has no form in a case file. */
export function unwritable(field: string, file: string): HarvestError {
  return new HarvestError('HARVEST_CASE_UNWRITABLE', {
    what: 'The case has a value that YAML cannot represent',
    where: { case: file, field },
    why: 'Infinite numbers and keys such as "constructor" have no form in a case file.',
    fix: [`remove it: delete \`${field}:\` from the case, or let the agent return another value there`],
  })
}

/** What a case says, by key of the file and in the order of writing. */
export function fieldsOf(content: CaseContent): ReadonlyMap<string, Json> {
  const { id, ...rest } = content
  const values: Record<string, unknown> = { ...rest, case: id }
  const present = caseKeys.filter((name) => values[name] !== undefined)
  return new Map(present.map((name) => [name, values[name] as Json]))
}

/** Whether two cases say the same. */
export function sameFields(some: ReadonlyMap<string, Json>, others: ReadonlyMap<string, Json>): boolean {
  return some.size === others.size && [...some].every(([name, value]) => sameJson(value, others.get(name)))
}
