import { parseJson } from '../json/canonical.ts'
import type { Prompt } from './conversation.ts'
import type { DescribedStep } from './describe.ts'

/** A step that gave an answer, and when. */
interface AnsweringStep {
  readonly number: number
  readonly name: string
  readonly end: number
}

/** A step, and the number of the moment it ended. */
interface AnsweredStep {
  readonly described: DescribedStep
  readonly end: number
}

/** The steps that gave an answer, by its text, in the order they were issued. */
export function stepsByAnswer(read: readonly AnsweredStep[]): ReadonlyMap<string, readonly AnsweringStep[]> {
  const found = new Map<string, AnsweringStep[]>()
  for (const [index, { described, end }] of read.entries()) {
    const { kind, answer, name } = described
    if (answer === undefined || kind === 'model' || kind === 'http') continue
    const bare = answer.startsWith('"') ? parseJson(answer) : undefined
    for (const text of typeof bare === 'string' ? [answer, bare] : [answer]) {
      const steps = found.get(text) ?? []
      found.set(text, steps)
      steps.push({ number: index + 1, name, end })
    }
  }
  return found
}

/** The steps whose answers a question carries: of equal answers the nearest earlier ones, each once, those of the same tool first. */
function carriedFrom(
  results: readonly { readonly name?: string; readonly text: string }[],
  asked: number,
  answers: ReadonlyMap<string, readonly AnsweringStep[]>,
): readonly (number | undefined)[] {
  const taken = new Set<number>()
  const numbers = results.toReversed().map(({ name, text }) => {
    const earlier = (answers.get(text) ?? []).filter(({ end, number }) => end < asked && !taken.has(number))
    const step = earlier.findLast((one) => one.name === name) ?? earlier.at(-1)
    if (step !== undefined) taken.add(step.number)
    return step?.number
  })
  return numbers.toReversed()
}

/** Events are named by `n`; people count steps. What a step answered word for word is named by its number. */
export function numbered(
  prompt: Prompt,
  numbers: ReadonlyMap<number, number>,
  asked: number,
  answers: ReadonlyMap<string, readonly AnsweringStep[]>,
): Prompt {
  const numberOf = (n: number | undefined): number | undefined => (n === undefined ? undefined : numbers.get(n))
  const renumber = <T extends { readonly sameAs?: number }>({ sameAs, ...rest }: T) => {
    const number = numberOf(sameAs)
    return number === undefined ? rest : { ...rest, sameAs: number }
  }
  const { instructions, tools, continues, fresh, ...rest } = prompt
  const from = numberOf(continues)
  const sources = [
    ...carriedFrom(
      fresh.flatMap(({ results }) => results),
      asked,
      answers,
    ),
  ]
  return {
    ...rest,
    fresh: fresh.map((message) => ({
      ...message,
      results: message.results.map((result) => {
        const step = sources.shift()
        return step === undefined ? result : { ...result, sameAs: step }
      }),
    })),
    ...(instructions === undefined ? {} : { instructions: renumber(instructions) }),
    ...(tools === undefined ? {} : { tools: renumber(tools) }),
    ...(from === undefined ? {} : { continues: from }),
  } as Prompt
}
