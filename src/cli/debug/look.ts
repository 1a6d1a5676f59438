import {
  differenceLines,
  inspectLines,
  type InspectPart,
  inspectParts,
  locateLines,
  rawStep,
} from '../../debug/index.ts'
import { parseJson } from '../../json/canonical.ts'
import type { Answer, DebugCommand, DebugContext } from './types.ts'
import { numberIn, wordsIn, wrong } from './words.ts'

export const lookCommands: Readonly<Record<string, DebugCommand>> = {
  inspect: {
    usage: 'inspect [PART]',
    about: `what was there: ${inspectParts.join(', ')}`,
    run(rest, context) {
      const [part, ...more] = wordsIn(rest)
      if (more.length > 0) throw wrong('inspect takes one part', [`like this: inspect ${part}`])
      return part === undefined ? inspect(undefined, context) : inspect(partNamed(part), context)
    },
  },
  clock: { usage: 'clock', about: 'the recorded clock here', run: (_, context) => inspect('clock', context) },
  locate: {
    usage: 'locate VALUE',
    about: 'where a value first appeared, and which requests it went into',
    run(rest, { session }) {
      if (rest === '') throw wrong('a value is missing', ['like this: locate 2500'])
      const value = parseJson(rest) ?? rest
      const places = session.locate(value)
      return {
        lines: locateLines(rest, places),
        data: { value, first: places[0] ?? null, places },
        ...(places.length === 0 ? { isNowhere: true as const } : {}),
      }
    },
  },
  diff: {
    usage: 'diff I J',
    about: 'context, arguments, result and state of two steps',
    run(rest, { session }) {
      const [from, to, ...more] = wordsIn(rest)
      if (to === undefined || more.length > 0) throw wrong('diff takes two steps', ['like this: diff 4 6'])
      const difference = session.diff(numberIn(from, 'diff 4 6'), numberIn(to, 'diff 4 6'))
      return { lines: differenceLines(difference), data: difference }
    },
  },
}

function inspect(part: InspectPart | undefined, { session }: DebugContext): Answer {
  const step = session.step()
  const seen = session.inspect()
  const raw = part === 'raw' ? rawStep(step) : undefined
  const data = part === undefined ? seen : part === 'raw' ? (raw ?? null) : (seen[part] ?? null)
  return { lines: inspectLines(seen, part, raw), data: part === undefined ? data : { step: session.at, [part]: data } }
}

function partNamed(word: string): InspectPart {
  const begun = inspectParts.filter((part) => part.startsWith(word.toLowerCase()))
  const [found] = inspectParts.filter((part) => part === word.toLowerCase()).concat(begun)
  if (found !== undefined && (begun.length === 1 || found === word.toLowerCase())) return found
  throw wrong(`there is no part '${word}'`, [`inspect ${inspectParts.join(' · ')}`])
}
