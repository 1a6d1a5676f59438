import type { Json } from '../../tape/types.ts'
import { at, isMap, type JsonMap, listAt, mapAt, numberAt, without } from '../../json/canonical.ts'

/**
 * The answers of a stream: the parts of a whole one each for itself, but calls that are wanted together in one, since a client may
 * answer each piece with what it calls for; what is said of all of it comes with the last.
 */
export function geminiEvents(whole: JsonMap): readonly JsonMap[] | undefined {
  const candidates = listAt(whole, 'candidates')
  const [candidate] = candidates
  if (candidate === undefined && at(whole, 'promptFeedback') === undefined) return undefined
  const pieces = inPieces(listAt(at(candidate, 'content'), 'parts'))
  // Several candidates side by side, or nothing said: one answer is a stream as well.
  if (!isMap(candidate) || candidates.length > 1 || pieces.length < 2) return [whole]
  const base = without(whole, 'candidates', 'usageMetadata')
  const content = mapAt(candidate, 'content')
  const index = at(candidate, 'index') ?? 0
  return pieces.map((parts, nth) =>
    nth < pieces.length - 1
      ? { ...base, candidates: [{ index, content: { ...content, parts } }] }
      : { ...whole, candidates: [{ ...candidate, content: { ...content, parts } }] },
  )
}

function inPieces(parts: readonly Json[]): readonly (readonly Json[])[] {
  const isCall = (part: Json | undefined): boolean => at(part, 'functionCall') !== undefined
  const pieces: Json[][] = []
  for (const part of parts) {
    const last = pieces.at(-1)
    if (last !== undefined && isCall(part) && isCall(last.at(-1))) last.push(part)
    else pieces.push([part])
  }
  return pieces
}

/** The answer that a stream of them makes; `undefined` where a candidate has no end. */
export function geminiWhole(events: readonly JsonMap[]): JsonMap | undefined {
  const candidates = new Map<number, JsonMap>()
  let rest: JsonMap = {}
  for (const event of events) {
    rest = { ...rest, ...without(event, 'candidates') }
    for (const candidate of listAt(event, 'candidates')) {
      if (!isMap(candidate)) return undefined
      const index = numberAt(candidate, 'index') ?? 0
      const before = candidates.get(index)
      const said = [...listAt(mapAt(before, 'content'), 'parts'), ...listAt(at(candidate, 'content'), 'parts')]
      // Arguments in pieces have no whole form.
      if (said.some((part) => at(at(part, 'functionCall'), 'willContinue') !== undefined)) return undefined
      const content = { ...mapAt(before, 'content'), ...mapAt(candidate, 'content'), parts: said }
      candidates.set(index, { ...before, ...candidate, content })
    }
  }
  const ended = [...candidates.values()]
  const isBlocked = at(at(rest, 'promptFeedback'), 'blockReason') !== undefined
  if (ended.some((candidate) => at(candidate, 'finishReason') === undefined)) return undefined
  if (ended.length === 0) return isBlocked ? rest : undefined
  return { candidates: ended.map(withWholeTexts), ...rest }
}

function withWholeTexts(candidate: JsonMap): JsonMap {
  const content = mapAt(candidate, 'content')
  const parts: Json[] = []
  for (const part of listAt(content, 'parts')) {
    const last = parts.at(-1)
    const one = last === undefined ? undefined : oneText(last, part)
    if (one === undefined) parts.push(part)
    else parts[parts.length - 1] = one
  }
  return { ...candidate, content: { ...content, parts } }
}

/** Two pieces of one text. A signature ends the part it stands on. */
function oneText(before: Json, after: Json): Json | undefined {
  if (!isMap(before) || !isMap(after) || at(before, 'thoughtSignature') !== undefined) return undefined
  const [first, second] = [at(before, 'text'), at(after, 'text')]
  if (typeof first !== 'string' || typeof second !== 'string') return undefined
  if ((at(before, 'thought') ?? false) !== (at(after, 'thought') ?? false)) return undefined
  return { ...before, ...after, text: first + second }
}
