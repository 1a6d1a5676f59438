import { globSync, readFileSync } from 'node:fs'
import { firstFinders, fourthFinders, secondFinders } from '../src/privacy/earlier.ts'
import { createRedactor } from '../src/privacy/index.ts'

/**
 * Searches every file of a folder with the finders of the first tapes, or with `--second` or `--fourth` of later ones, and with those
 * of now, and prints what only one of them finds: each kind with its count and, with `--show n`, n places of it. What
 * stands there may be a secret: keep the output to yourself.
 *
 *     node scripts/compare-redaction.ts ../shared/data [--second | --fourth] [--show 20] [--without heldout]
 */
const [folder = '../shared/data', ...words] = process.argv.slice(2)
const option = (name: string): string | undefined => {
  const at = words.indexOf(name)
  return at === -1 ? undefined : words[at + 1]
}
const shown = Number(option('--show') ?? 0)
const without = option('--without') ?? 'heldout'
const later = words.includes('--second') ? secondFinders : firstFinders
const earlier = words.includes('--fourth') ? fourthFinders : later

const counts = { files: 0, megabytes: 0, both: 0, before: 0, now: 0, onlyBefore: 0, onlyNow: 0 }
const lost: string[] = []
const gained: string[] = []
for (const file of globSync('**/*.{json,jsonl,yaml,yml,har,txt,py,cassette}', { cwd: folder })) {
  if (file.includes(without)) continue
  const text = readFileSync(`${folder}/${file}`, 'utf8')
  const [before, now] = [{ finders: earlier }, {}].map((numbering) => createRedactor({}, numbering).scan(text)) as [
    ReturnType<ReturnType<typeof createRedactor>['scan']>,
    ReturnType<ReturnType<typeof createRedactor>['scan']>,
  ]
  counts.files++
  counts.megabytes += text.length / 1e6
  counts.before += before.length
  counts.now += now.length
  const missing = apart(before, now)
  const more = apart(now, before)
  counts.onlyBefore += missing.length
  counts.onlyNow += more.length
  counts.both += before.length - missing.length
  const told = ({ kind, index, length }: (typeof now)[number]): string =>
    `${kind}\t${file}\t${JSON.stringify(text.slice(Math.max(0, index - 40), index))} → ${JSON.stringify(text.slice(index, index + Math.min(length, 60)))}`
  lost.push(...missing.map(told))
  gained.push(...more.map(told))
}
console.log(counts)
print('only the earlier finders', lost)
print('only the finders of now', gained)

type Found = { readonly index: number; readonly length: number }

/** Those that touch none of the others; both are in order. */
function apart<T extends Found>(these: readonly T[], others: readonly Found[]): T[] {
  let next = 0
  return these.filter(({ index, length }) => {
    while (next < others.length && others[next]!.index + others[next]!.length <= index) next++
    return next >= others.length || others[next]!.index >= index + length
  })
}

function print(title: string, lines: readonly string[]): void {
  const kinds = Map.groupBy(lines, (line) => line.slice(0, line.indexOf('\t')))
  console.log(`${title}: ${lines.length}`, Object.fromEntries([...kinds].map(([kind, list]) => [kind, list.length])))
  for (const list of kinds.values()) {
    const step = Math.max(1, Math.floor(list.length / Math.max(1, shown)))
    for (let at = 0; at < list.length && at / step < shown; at += step) console.log(`  ${list[at]}`)
  }
}
