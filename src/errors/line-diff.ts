import { diffArrays } from 'diff/lib/diff/array.js'
import { visible } from './neutral.ts'

/** Lines of unchanged text on either side of a change. */
const around = 2
const maxLines = 60

/**
 * What was expected and what was received, line by line: `- ` only expected, `+ ` only received. Long unchanged
 * stretches are left out, and an empty text is `""`.
 */
export function lineDiff(expected: string, received: string): string {
  const [a, b] = [expected, received].map((text) => visible(text).split('\n'))
  const parts = diffArrays(a ?? [], b ?? [], { maxEditLength: 1_000 })
  const lines = parts
    ? parts.flatMap(({ value, removed, added }) => value.map((line) => `${removed ? '-' : added ? '+' : ' '} ${line}`))
    : [...(a ?? []).map((line) => `- ${line}`), ...(b ?? []).map((line) => `+ ${line}`)]
  const differs = lines.map((line) => !line.startsWith('  '))
  const shown: string[] = []
  for (const [index, line] of lines.entries()) {
    if (differs.slice(Math.max(0, index - around), index + around + 1).includes(true)) shown.push(line)
    else if (shown.at(-1) !== '  …') shown.push('  …')
  }
  const head = ['- expected', '+ received', '']
  if (shown.length <= maxLines) return [...head, ...shown].join('\n')
  return [...head, ...shown.slice(0, maxLines), `  … and ${shown.length - maxLines} more lines`].join('\n')
}
