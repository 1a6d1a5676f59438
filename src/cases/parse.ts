import { isMap, isSeq, type Node, type YAMLMap } from 'yaml'
import { HarvestError } from '../errors/index.ts'
import { baselinePath, parseBaseline } from '../trace/index.ts'
import { lineAt, lineStartsOf, type CaseIssue, quoted, refuseIssues } from './issues.ts'
import { refusePragmas } from './pragma.ts'
import { caseSchema } from './schema.ts'
import type { Case, CaseContent, CaseLines } from './types.ts'
import { keyName, offsetOf, pairOf, toJson, validate, validateKeys } from './validate.ts'
import { parseYaml } from './yaml.ts'

/** Bytes a case file may have. */
export const maxCaseBytes = 256 * 1024

/**
 * Reads the text of a case file.
 *
 * A case is data: aliases, tags, directives and merge keys are refused, and so are keys that reach into the objects
 * of a program. Every mistake is reported at once, with line, column, what was expected and what was found.
 *
 * @param file - the file it came from, or a label; the error names it
 * @throws HARVEST_CASE_TOO_LARGE above 256 KiB, before anything is parsed
 * @throws the code of the mistakes when all are of one kind, else HARVEST_CASE_INVALID
 */
export function parseCase(text: string, file: string): Case {
  refuseSize(Buffer.byteLength(text), file)
  const issues: CaseIssue[] = []
  refusePragmas(text, issues)
  const document = parseYaml(text, issues)
  if (document !== undefined) {
    validateKeys(document.contents, '', issues)
    validate(document.contents, caseSchema, '', issues)
    validateBaseline(document.contents, issues)
  }
  refuseIssues(issues, text, file)
  return toCase(document?.contents as YAMLMap, text, file)
}

/** @throws HARVEST_CASE_TOO_LARGE above 256 KiB */
export function refuseSize(bytes: number, file: string): void {
  if (bytes <= maxCaseBytes) return
  throw new HarvestError('HARVEST_CASE_TOO_LARGE', {
    what: 'The case file is too large',
    where: { case: file, bytes: `${bytes}, at most ${maxCaseBytes}` },
    why: 'A case is reviewed by people; long data belongs in its tape.',
    fix: ['shorten the outcome: it is a structural match, so it can leave out irrelevant parts'],
  })
}

/**
 * Whether a case has rules that were not checked: such a case must not pass.
 */
export function hasUncheckedRules({ rules }: Pick<CaseContent, 'rules'>): boolean {
  return rules !== undefined && rules.length > 0
}

/** Adds the mistakes inside calls, each at its own item; what is no call at all was reported by the schema. */
function validateBaseline(contents: Node | null, issues: CaseIssue[]): void {
  const baseline = isMap(contents) ? pairOf(contents, 'baseline')?.value : undefined
  if (!isSeq(baseline)) return
  const told = new Set(issues.map(({ path }) => /^baseline\[\d+\]/.exec(path)?.[0]))
  for (const [index, item] of baseline.items.entries()) {
    if (told.has(`baseline[${index}]`)) continue
    try {
      parseBaseline([toJson(item)])
    } catch (error) {
      if (!HarvestError.is(error)) throw error
      const inner = baselinePath(error)[1]
      const place = inner !== undefined && isSeq(item) ? item.items[inner] : item
      const { wanted = 'a call', text = '', column } = error.facts.where ?? {}
      issues.push({
        code: 'HARVEST_CASE_BASELINE',
        offset: offsetOf(place as Node),
        path: `baseline[${index}]${inner === undefined ? '' : `[${inner}]`}`,
        expected: column === undefined ? wanted : `at character ${column} of the call: ${wanted}`,
        found: quoted(text),
        hint: 'calls look like refund(amount, order_id), search(query: "x", limit: *), lookup(*), or *',
      })
    }
  }
}

function toCase(contents: YAMLMap, text: string, file: string): Case {
  const { case: id, ...fields } = toJson(contents) as unknown as Omit<CaseContent, 'id'> & { readonly case: string }
  const expected = fields.baseline === undefined ? {} : { expected: parseBaseline(fields.baseline) }
  return Object.freeze({ id, ...fields, ...expected, file, lines: linesOf(contents, lineStartsOf(text)) })
}

function linesOf(contents: YAMLMap, lineStarts: readonly number[]): CaseLines {
  const lines: Record<string, number> = {}
  for (const { key } of contents.items) lines[keyName(key) ?? ''] = lineAt(offsetOf(key as Node), lineStarts)
  const itemLines = (name: string): readonly number[] => {
    const list = pairOf(contents, name)?.value
    return isSeq(list) ? list.items.map((item) => lineAt(offsetOf(item as Node), lineStarts)) : []
  }
  return { ...lines, baselineItems: itemLines('baseline'), ruleItems: itemLines('rules') } as unknown as CaseLines
}
