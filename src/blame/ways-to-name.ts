import { neutralLine } from '../errors/index.ts'
import { isMap } from '../json/canonical.ts'
import type { Json, Tape } from '../tape/index.ts'
import { renderCall, type TraceCall, traceOf } from '../trace/index.ts'
import { parseExpectation } from './expectation.ts'

/**
 * How to say what a good or a bad run is, in the words of this run: what it did can be pasted, what would have been right
 * only people know.
 *
 * @param isGood - whether what was said of a good run is true of this one, so that it says the wrong thing
 */
export function waysToName(tape: Tape, isGood = false): readonly string[] {
  const calls = traceOf(tape.events).layers.flat()
  const value = tape.close?.outcome.status === 'returned' ? tape.close.outcome.value : undefined
  const call = calls.at(-1)
  const bad = (call === undefined ? undefined : callText(call)) ?? (value === undefined ? undefined : valueText(value))
  const [key = '.'] = isMap(value) ? Object.keys(value) : []
  const forms = [
    ...(call === undefined ? [] : [`${neutralLine(call.name, 40)}(…)`]),
    ...(value === undefined ? [] : [`${neutralLine(key, 40)}=…`]),
  ]
  const such = forms.length === 0 ? '' : `, such as ${forms.join(' or ')}`
  return [
    ...(bad === undefined ? [] : [`if what it did was bad: --bad '${bad}'${isGood ? ', without --ok' : ''}`]),
    `to say what would be right${such}: --ok '<right>'`,
  ]
}

/** Longer ones are neither read nor pasted. */
const mostCharacters = 100

/** A call as an expectation that it meets: with its arguments where that can be typed, else with any. */
function callText(call: TraceCall): string | undefined {
  return [renderCall(call, 'exact'), `${call.name}(*)`].find((text) => {
    const expected = readable(text)
    return expected?.kind === 'call' && expected.isAmong([call])
  })
}

/** The first part of a returned value that can be typed. */
function valueText(value: Json): string | undefined {
  const parts = isMap(value) ? Object.entries(value) : [['.', value] as const]
  return parts
    .filter(([, part]) => typeof part !== 'object')
    .map(([key, part]) => `${key}=${String(part)}`)
    .find((text) => {
      const expected = readable(text)
      return expected?.kind === 'value' && expected.fits(value)
    })
}

/** Read as it is typed between single quotes; `undefined` where it cannot be. */
function readable(text: string): ReturnType<typeof parseExpectation> | undefined {
  if (text.length > mostCharacters || text.includes("'") || neutralLine(text, mostCharacters) !== text) return undefined
  try {
    return parseExpectation(text, '--bad')
  } catch {
    // Not every name and value has a spelling here: the next one is tried.
    return undefined
  }
}
