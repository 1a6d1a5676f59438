import { diffWordsWithSpace } from 'diff'
import { neutralLine, visible } from '../../errors/index.ts'

/** Edits above which two texts are told to be others altogether: a word diff of them would show nothing and take long. */
const maxEditLength = 400
/** Characters of unchanged text kept on either side of a change. */
const around = 60

/** What changed between two texts, word by word: `[-old-]{+new+}`, long unchanged stretches left out. */
export function wordDiff(a: string, b: string): string {
  const parts = diffWordsWithSpace(a, b, { maxEditLength })
  if (parts === undefined || a.trim() === '' || b.trim() === '') return `[-${visible(cut(a))}-]\n{+${visible(cut(b))}+}`
  return parts
    .map(({ value, removed, added }, index) => {
      if (removed) return `[-${value}-]`
      if (added) return `{+${value}+}`
      return shorten(value, index === 0, index === parts.length - 1)
    })
    .join('')
}

function cut(text: string): string {
  return text.length > 400 ? `${text.slice(0, 399)}…` : text
}

function shorten(text: string, isFirst: boolean, isLast: boolean): string {
  if (text.length <= 2 * around + 10) return text
  const head = isFirst ? '' : text.slice(0, around)
  const tail = isLast ? '' : text.slice(-around)
  return `${head}…${tail}`
}

/** Both texts cut to `room` characters where they part, so that the difference is seen. */
export function nearDifference(a: string, b: string, room: number): readonly [a: string, b: string] {
  let at = 0
  while (at < Math.min(a.length, b.length) && a[at] === b[at]) at++
  const fits = a.length <= room && b.length <= room
  const from = fits ? 0 : Math.max(0, at - Math.floor(room / 4))
  const cutSide = (text: string): string => visible(neutralLine(from > 1 ? `…${text.slice(from)}` : text, room))
  return [cutSide(a), cutSide(b)]
}
