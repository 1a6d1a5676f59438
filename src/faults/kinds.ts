import { HarvestError, nearestWord, neutralLine, page, shellWord } from '../errors/index.ts'
import { callKinds } from './calls.ts'
import { httpKinds } from './http.ts'
import { messageKinds } from './messages.ts'
import { orderKinds } from './order.ts'
import { traceforkKinds } from './tracefork.ts'
import type { FaultFamily, FaultKind } from './types.ts'
import { valueKinds } from './values.ts'
import { runKinds } from './whole-run.ts'

/** Every kind of fault there is, by family. */
export const faultKinds: readonly FaultKind[] = [
  ...httpKinds,
  ...callKinds,
  ...orderKinds,
  ...valueKinds,
  ...messageKinds,
  ...runKinds,
  ...traceforkKinds,
]

/** What a sound agent lives through: failures that pass, and answers that arrive late. */
export const defaultFaults: readonly FaultFamily[] = ['http', 'tools', 'order']

const byName: ReadonlyMap<string, FaultKind> = new Map(faultKinds.map((kind) => [kind.name, kind]))
const families: readonly string[] = [...new Set(faultKinds.map(({ family }) => family))]

/**
 * @param among - all that was asked for, where it was typed
 * @throws HarvestError `HARVEST_FAULT_KIND` for a name no kind has
 */
export function kindNamed(name: string, among?: readonly string[]): FaultKind {
  const kind = byName.get(name)
  if (kind === undefined) throw unknownKind(name, among)
  return kind
}

/**
 * The kinds that words name: families such as `http`, or single kinds such as `http-429`. Each once, in one order.
 *
 * @throws HarvestError `HARVEST_FAULT_KIND` for a word that names neither
 */
export function kindsNamed(words: readonly string[]): readonly FaultKind[] {
  const chosen = new Set(
    words.flatMap((word) =>
      families.includes(word) ? faultKinds.filter(({ family }) => family === word) : [kindNamed(word, words)],
    ),
  )
  return faultKinds.filter((kind) => chosen.has(kind))
}

function unknownKind(word: string, words: readonly string[] | undefined): HarvestError {
  const names = [...families, ...byName.keys()]
  const near = nearestWord(word, names)
  const meant = words?.map((one) => (one === word && near !== undefined ? near : one)).join(',')
  return new HarvestError('HARVEST_FAULT_KIND', {
    what: `Unknown fault '${neutralLine(word, 60)}'`,
    where: { families: families.join(', '), faults: [...byName.keys()].join(', ') },
    fix: [
      ...(near === undefined ? [] : [`did you mean: ${meant === undefined ? near : `--faults ${shellWord(meant)}`}`]),
      `to see what each does: ${page('chaos')}`,
    ],
  })
}
