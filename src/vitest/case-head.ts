import path from 'node:path'
import { HarvestError } from '../errors/index.ts'
import { toPosix } from './posix.ts'

const casePattern = /\.case\.ya?ml$/

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
  throw new HarvestError('HARVEST_CASE_NAME', {
    what: 'Invalid case file name: use letters, digits, `.`, `_` and `-`',
    where: { file: name },
    fix: [
      "rename the case, and its tape with it: git mv '<old>.case.yaml' '<new>.case.yaml'",
      'then write the new names into it: `case:` and `tape:`',
    ],
  })
}

interface HeadValue {
  readonly value?: string
  /** 0-based; 0 when the key is missing. */
  readonly line: number
}

export interface CaseHead {
  readonly id: HeadValue
  readonly agent: HeadValue
  readonly tape: HeadValue
  readonly tags: readonly string[]
}

/**
 * The few keys that the config process needs. All cases of a project pass through that one thread, so it does not parse
 * YAML; the worker does, and complains about what is wrong.
 */
export function readHead(text: string): CaseHead {
  const lines = text.split(/\r?\n/)
  const find = (key: string): HeadValue => {
    const line = lines.findIndex((candidate) => candidate.startsWith(`${key}:`))
    const value = line < 0 ? undefined : scalar(lines[line]?.slice(key.length + 1) ?? '')
    return { line: Math.max(0, line), ...(value !== undefined && value !== '' && { value }) }
  }
  return { id: find('case'), agent: find('agent'), tape: find('tape'), tags: readTags(lines) }
}

function readTags(lines: readonly string[]): readonly string[] {
  const at = lines.findIndex((line) => line.startsWith('tags:'))
  if (at < 0) return []
  const flow = withoutComment(lines[at]?.slice('tags:'.length) ?? '')
  const after = lines.slice(at + 1)
  const end = after.findIndex((line) => /^[^\s#-]/.test(line))
  const block = end < 0 ? after : after.slice(0, end)
  const listed = flow === '' ? block.map((line) => /^\s*-\s+(.+)$/.exec(line)?.[1] ?? '') : flowItems(flow, block)
  return listed.map(scalar).filter((tag) => /^[\w./-]+$/.test(tag))
}

/** `[a, b]`, also when it goes on over the next lines. */
function flowItems(first: string, rest: readonly string[]): readonly string[] {
  const text = [first, ...rest.map(withoutComment)].join(' ')
  return (/^\[([^\]]*)\]?/.exec(text)?.[1] ?? text).split(',')
}

/** A plain or quoted scalar without its comment. */
function scalar(text: string): string {
  const trimmed = text.trim()
  const quoted = /^(?:"([^"]*)"|'([^']*)')/.exec(trimmed)
  return quoted ? (quoted[1] ?? quoted[2] ?? '') : withoutComment(trimmed)
}

function withoutComment(text: string): string {
  return text.replace(/(?:^|\s)#.*$/, '').trim()
}

/** The tags of a case. `golden` no matter what its file says, so that `--tags-filter=golden` finds all cases. */
export function tagsOf({ tags }: CaseHead): readonly string[] {
  return [...new Set(['golden', ...tags])]
}
