import path from 'node:path'
import type { CaseHead, HeadValue } from '../cases/yaml-head.ts'
import { HarvestError, neutralLine } from '../errors/index.ts'
import { loadOwn } from '../own-files.ts'
import { toPosix } from './posix.ts'

export const casePattern = /\.case\.ya?ml$/

/** Whether a module id is a case: `?raw` and the like ask for the text of the file. */
export function isCaseId(id: string): boolean {
  return casePattern.test(withoutQuery(id)) && !/[?&](?:raw|url|inline)\b/.test(id)
}

export function withoutQuery(id: string): string {
  return id.split('?', 1)[0] ?? id
}

/** The name of a case in Vitest: its path below the recordings folder, `golden/billing/refund-100x`. */
export function nameOf(file: string, recordings: string): string {
  const name = toPosix(path.relative(recordings, file)).replace(casePattern, '')
  // Vitest's static parser takes the source text between the quotes: what needs an escape would be listed wrongly.
  if (/^[\w./-]+$/.test(name)) return name
  throw caseNameError(name)
}

export function caseNameError(name: string): HarvestError {
  return new HarvestError('HARVEST_CASE_NAME', {
    what: 'Invalid case file name: use letters, digits, `.`, `_` and `-`',
    where: { file: neutralLine(name, 300) },
    fix: [
      "rename the case, and its tape with it: git mv '<old>.case.yaml' '<new>.case.yaml'",
      'then write the new names into it: `case:` and `tape:`',
    ],
  })
}

export type { CaseHead }

/**
 * The few keys that the config process needs. All cases of a project pass through that one thread: of a case as it is usually
 * written, the lines alone tell. YAML has other spellings of the same, and those are left to its parser. The worker reads
 * the case, and complains about what is wrong.
 */
export function readHead(text: string): CaseHead {
  return headOfLines(text) ?? (loadOwn('cases/yaml-head') as YamlHead).headOfYaml(text)
}

/** Loaded at the first case that needs it: that takes longer than to read the heads of a thousand. */
type YamlHead = typeof import('../cases/yaml-head.ts')

/** `undefined` where lines alone do not tell. */
function headOfLines(text: string): CaseHead | undefined {
  const lines = text.split(/\r?\n/)
  if (!lines.every((line) => usualLine.test(line))) return undefined
  const [id, agent, tape] = ['case', 'agent', 'tape'].map((key) => valueAt(lines, key))
  const tags = tagsIn(lines)
  return id && agent && tape && tags && { id, agent, tape, tags }
}

// A key that is a word, an item of a list, a comment, or what belongs to the line before.
const usualLine = /^(?:[A-Za-z]+:(?:[ \t]|$)|-[ \t]|#|[ \t]|$)/
const comment = String.raw`[ \t]*(?:[ \t]#.*)?$`
const wordThere = new RegExp(`^[A-Za-z]+:[ \\t]+(?:([A-Za-z0-9][\\w./-]*)|"([\\w./ -]*)"|'([\\w./ -]*)')${comment}`)

/** A word in the line of a key that stands once. */
function valueAt(lines: readonly string[], key: string): HeadValue | undefined {
  const line = onlyLine(lines, key)
  const [, plain, double, single] = wordThere.exec(lines[line] ?? '') ?? []
  const value = plain ?? double ?? single
  return value === undefined || value === '' || goesOn(lines, line) ? undefined : { value, line }
}

/** -1 where there is no such line, or more than one. */
function onlyLine(lines: readonly string[], key: string): number {
  const line = lines.findIndex((one) => one.startsWith(`${key}:`))
  return line === lines.findLastIndex((one) => one.startsWith(`${key}:`)) ? line : -1
}

/** Whether the value of a line may go on in those that follow. */
function goesOn(lines: readonly string[], at: number): boolean {
  return /^(?:[ \t]|-)/.test(lines.slice(at + 1).find((line) => line.trim() !== '') ?? '')
}

function tagsIn(lines: readonly string[]): readonly string[] | undefined {
  if (!lines.some((line) => line.startsWith('tags:'))) return []
  const at = onlyLine(lines, 'tags')
  const [, flow] = flowOfWords.exec(lines[at] ?? '') ?? []
  if (flow !== undefined) return goesOn(lines, at) ? undefined : flow.split(',').map((tag) => tag.trim())
  if (!emptyThere.test(lines[at] ?? '')) return undefined
  const after = lines.slice(at + 1)
  const end = after.findIndex((line) => /^[A-Za-z]/.test(line))
  const items = (end < 0 ? after : after.slice(0, end)).filter((line) => !/^\s*(?:#.*)?$/.test(line))
  const tags = items.map((line) => itemThere.exec(line)?.slice(1) ?? [])
  // One list, however far it is indented.
  return tags.length > 0 && tags.every(([indent, tag]) => tag !== undefined && indent === tags[0]?.[0])
    ? tags.map(([, tag]) => tag ?? '')
    : undefined
}

const tagWord = String.raw`[A-Za-z][\w./-]*`
const flowOfWords = new RegExp(`^tags:[ \\t]+\\[[ \\t]*(${tagWord}(?:[ \\t]*,[ \\t]*${tagWord})*)[ \\t]*\\]${comment}`)
const emptyThere = new RegExp(`^tags:${comment}`)
const itemThere = new RegExp(`^( *)-[ \\t]+(${tagWord})${comment}`)

/** The tags of a case. `golden` no matter what its file says, so that `--tags-filter=golden` finds all cases. */
export function tagsOf({ tags }: CaseHead): readonly string[] {
  return [...new Set(['golden', ...tags])]
}
