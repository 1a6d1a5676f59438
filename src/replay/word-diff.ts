/** Words shown around a change. */
const around = 3
const longest = 600
/** Beyond this many words only the common ends are looked for. */
const comparable = 400

/** What changed between two texts, word by word: `refund [-25-] {+2500+} EUR`, long unchanged stretches left out. */
export function wordDiff(recorded: string, live: string): string {
  const [before, after] = [wordsOf(recorded), wordsOf(live)]
  let head = 0
  while (head < before.length && before[head] === after[head]) head++
  let tail = 0
  const most = Math.min(before.length, after.length) - head
  while (tail < most && before.at(-1 - tail) === after.at(-1 - tail)) tail++
  const parts = [
    kept(before.slice(0, head), 'head'),
    ...changes(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    kept(before.slice(before.length - tail), 'tail'),
  ]
  const text = parts.filter((part) => part !== '').join(' ')
  return text.length > longest ? `${text.slice(0, longest)}…` : text
}

function wordsOf(text: string): readonly string[] {
  return text.split(/\s+/).filter((word) => word !== '')
}

function kept(words: readonly string[], where: 'head' | 'middle' | 'tail'): string {
  if (words.length <= (where === 'middle' ? 2 * around : around)) return words.join(' ')
  const [first, last] = [words.slice(0, around).join(' '), words.slice(-around).join(' ')]
  if (where === 'head') return `… ${last}`
  return where === 'tail' ? `${first} …` : `${first} … ${last}`
}

function changes(before: readonly string[], after: readonly string[]): readonly string[] {
  if (before.length > comparable || after.length > comparable) return [change(before, after)]
  const lengths = Array.from({ length: before.length + 1 }, () => new Uint16Array(after.length + 1))
  for (let i = before.length - 1; i >= 0; i--)
    for (let j = after.length - 1; j >= 0; j--)
      lengths[i]![j] =
        before[i] === after[j] ? lengths[i + 1]![j + 1]! + 1 : Math.max(lengths[i + 1]![j]!, lengths[i]![j + 1]!)
  const parts: string[] = []
  let [i, j] = [0, 0]
  while (i < before.length || j < after.length) {
    const [out, put, same]: string[][] = [[], [], []]
    while ((i < before.length || j < after.length) && before[i] !== after[j]) {
      if (j === after.length || (i < before.length && lengths[i + 1]![j]! >= lengths[i]![j + 1]!))
        out!.push(before[i++]!)
      else put!.push(after[j++]!)
    }
    while (i < before.length && j < after.length && before[i] === after[j]) {
      same!.push(before[i++]!)
      j++
    }
    parts.push(change(out!, put!), kept(same!, 'middle'))
  }
  return parts
}

function change(out: readonly string[], put: readonly string[]): string {
  return [out.length === 0 ? '' : `[-${out.join(' ')}-]`, put.length === 0 ? '' : `{+${put.join(' ')}+}`]
    .filter((part) => part !== '')
    .join(' ')
}
