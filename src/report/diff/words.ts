import { neutralLine, visible } from '../../errors/index.ts'

/** Both texts cut to `room` characters where they part, so that the difference is seen. */
export function nearDifference(a: string, b: string, room: number): readonly [a: string, b: string] {
  let at = 0
  while (at < Math.min(a.length, b.length) && a[at] === b[at]) at++
  const fits = a.length <= room && b.length <= room
  const from = fits ? 0 : Math.max(0, at - Math.floor(room / 4))
  const cutSide = (text: string): string => visible(neutralLine(from > 1 ? `…${text.slice(from)}` : text, room))
  return [cutSide(a), cutSide(b)]
}
