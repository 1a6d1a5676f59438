import type { Dialect, ModelCall, ModelRequest, Usage } from './types.ts'

interface Asked extends Pick<ModelCall, 'n' | 'keptAs' | 'moreOf'> {
  readonly request: Pick<ModelRequest, 'dialect'>
}

/**
 * Tells of each model call which question it belongs to. An answer that the provider keeps may be sent many times: each
 * poll tells it again, and a run of an assistant goes on when its tools have answered. They belong to one question, and what
 * they tell again (a tool call, the tokens used) counts once.
 *
 * Add the calls of a run in the order of their answers.
 */
export class ModelQuestions {
  readonly #byAnswer = new Map<string, number>()

  /** `n` of the call that asked; its own when that is this call, or is not among those added. */
  of({ n, request: { dialect }, keptAs, moreOf }: Asked): number {
    const key = (id: string): string => `${dialect} ${id}`
    const asked = moreOf === undefined ? undefined : this.#byAnswer.get(key(moreOf))
    if (asked !== undefined) return asked
    // A mock may give every answer one id: a new question is a new one all the same.
    const id = moreOf ?? keptAs
    if (id !== undefined) this.#byAnswer.set(key(id), n)
    return n
  }
}

/** Of a model call, what its tokens and its price are counted by. */
export interface CountedCall extends Pick<ModelCall, 'n' | 'keptAs' | 'moreOf' | 'isPoll'> {
  readonly request: { readonly dialect: Dialect; readonly model: string }
  readonly response?: { readonly model?: string; readonly usage?: Usage; readonly error?: string }
}

/**
 * The model calls of a run as they are counted: polls are left out, and tokens sent several times count once, as sent last.
 * The tokens of an assistant's run are sent for the whole of it: they stand with the call that began it. Holds no texts.
 *
 * Add them in the order of their answers.
 */
export class CallsOnce {
  readonly #questions = new ModelQuestions()
  readonly #groups = new Map<number, Group>()

  add(call: CountedCall): void {
    const question = this.#questions.of(call)
    const told = slim(call)
    const group = this.#groups.get(question) ?? { first: told, asked: [] }
    this.#groups.set(question, group)
    if (!told.isPoll) group.asked.push(told)
    if (told.response?.usage !== undefined) group.told = told.response
  }

  get all(): readonly CountedCall[] {
    return [...this.#groups.values()].flatMap(({ first, asked, told }) => {
      // Of a recording that begins in the middle there are polls alone.
      const calls = asked.length === 0 ? [first] : asked
      return told === undefined ? calls : calls.map((call, i) => withResponse(call, i === 0 ? told : { usage: none }))
    })
  }
}

/** What was said to one question, and goes on under one id. */
interface Group {
  readonly first: CountedCall
  readonly asked: CountedCall[]
  told?: NonNullable<CountedCall['response']>
}

const none: Usage = { inputTokens: 0, outputTokens: 0 }

function withResponse(call: CountedCall, response: NonNullable<CountedCall['response']>): CountedCall {
  return { ...call, response: { ...call.response, ...response } }
}

/** Without the bodies, that they can be let go. */
function slim({ n, keptAs, moreOf, isPoll, request: { dialect, model }, response }: CountedCall): CountedCall {
  return {
    n,
    ...(keptAs === undefined ? {} : { keptAs }),
    ...(moreOf === undefined ? {} : { moreOf }),
    ...(isPoll === undefined ? {} : { isPoll }),
    request: { dialect, model },
    ...(response === undefined
      ? {}
      : {
          response: {
            ...(response.model === undefined ? {} : { model: response.model }),
            ...(response.usage === undefined ? {} : { usage: response.usage }),
            ...(response.error === undefined ? {} : { error: response.error }),
          },
        }),
  }
}
