import { lstatSync } from 'node:fs'
import type { YAMLMap } from 'yaml'
import type { Json } from '../tape/types.ts'
import { type CaseIssue, refuseIssues } from './issues.ts'
import { readBytes } from './load.ts'
import { refusePragmas } from './pragma.ts'
import { renderPair } from './render.ts'
import { type SchemaRule, sharedAcceptance } from './schema.ts'
import { replaceField, rewriteDocument, spliceField } from './splice.ts'
import type { SharedAcceptance } from './types.ts'
import { textOf } from './text.ts'
import { toJson, validate, validateKeys } from './validate.ts'
import { parseYaml } from './yaml.ts'

const header = `# Changed questions to models that several cases share, and that a person accepted once for all of them.
# Written by \`npx vitest-harvest accept\` and by updates; review it as you review cases.
`

const fileSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['accepted'],
  properties: { accepted: { type: 'array', items: sharedAcceptance } },
} as const satisfies SchemaRule

/**
 * Reads the changes that were accepted for all cases; none when there is no such file.
 *
 * @throws HARVEST_CASE_INVALID and the other codes of a case file, with line and column
 */
export function readAcceptedFile(file: string): readonly SharedAcceptance[] {
  const text = readAcceptedText(file)
  if (text === undefined) return []
  const last = parsed.get(file)
  if (last?.text === text) return last.accepted
  const accepted = parseAccepted(text, file)
  parsed.set(file, { text, accepted })
  return accepted
}

/**
 * The text of such a file; `undefined` without one.
 *
 * @throws HARVEST_CASE_LINK, HARVEST_CASE_NOT_A_FILE, HARVEST_CASE_ENCODING and the like, as for a case file
 */
export function readAcceptedText(file: string): string | undefined {
  return lstatSync(file, { throwIfNoEntry: false }) === undefined ? undefined : textOf(readBytes(file), file)
}

/** What each file said last: two hundred cases of one worker ask for the same one, and its YAML is taken apart once. */
const parsed = new Map<string, { readonly text: string; readonly accepted: readonly SharedAcceptance[] }>()

/**
 * Parses the changes that were accepted for all cases.
 *
 * @throws HARVEST_CASE_INVALID and the other codes of a case file, with line and column
 */
export function parseAccepted(text: string, file: string): readonly SharedAcceptance[] {
  const issues: CaseIssue[] = []
  refusePragmas(text, issues)
  const document = parseYaml(text, issues)
  if (document !== undefined) {
    validateKeys(document.contents, '', issues)
    validate(document.contents, fileSchema, '', issues)
  }
  refuseIssues(issues, text, file)
  const { accepted } = toJson(document?.contents as YAMLMap) as unknown as { readonly accepted: SharedAcceptance[] }
  return accepted
}

/**
 * The text of the file with this list; comments outside of what changes stay.
 *
 * @param text - what the file says today; `undefined` without one
 */
export function writeAccepted(text: string | undefined, accepted: readonly SharedAcceptance[], file: string): string {
  const list = accepted as unknown as Json
  if (text === undefined) return header + renderPair('accepted', list, 0)
  for (const edit of [spliceField, replaceField, rewriteDocument]) {
    const document = parseYaml(text, [])
    const result = document === undefined ? undefined : edit(text, document, 'accepted', list)
    if (result !== undefined && JSON.stringify(parseAccepted(result, file)) === JSON.stringify(accepted)) return result
  }
  return header + renderPair('accepted', list, 0)
}
