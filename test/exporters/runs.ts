import fc from 'fast-check'
import { parseTape, serializeTape, type Tape } from '../../src/tape/index.ts'
import { currentFlags, formatVersion } from '../../src/tape/index.ts'
import type { Closing, ExchangeEvent, Json, Moment, TapeEvent, TapeHeader } from '../../src/tape/index.ts'

/** A tape of these events, as `readTape` gives it; without `close` it is truncated. */
export function tapeOf(
  events: readonly TapeEvent[],
  { header = {}, close = { n: 1_000_000, at: 100_000, outcome: { status: 'returned' } } }: Parts = {},
): Tape {
  const whole = {
    harvest: formatVersion,
    id: 'desk-1',
    agent: 'desk',
    startedAt: '2026-03-04T05:06:07.089Z',
    recorder: 'vitest-harvest/0.1.0',
    flags: currentFlags,
    pins: { node: '24.21.0' },
    ...header,
  }
  return parseTape(serializeTape(whole, events, close === 'none' ? undefined : close), 'desk-1.tape.jsonl')
}

interface Parts {
  readonly header?: Partial<TapeHeader>
  readonly close?: Closing | 'none'
}

/** What a model is asked to do in one turn of a made-up run. */
export interface Turn {
  readonly calls: readonly {
    readonly name: string
    readonly args: { readonly [key: string]: Json }
    readonly result: Json
  }[]
  /** Whether the calls run side by side. */
  readonly together: boolean
}

/** Without what an import takes for an address of mail, and redacts. */
const text = fc.string().map((given) => given.replaceAll('@', ''))

/** A JSON value that is the same after it was written and read; no keys that programs trip over. */
const value: fc.Arbitrary<Json> = fc.oneof(
  text,
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.dictionary(fc.constantFrom('a', 'b'), fc.oneof(fc.integer(), text), { maxKeys: 2, noNullPrototype: true }),
  fc.array(fc.integer(), { maxLength: 3 }),
)

const turn: fc.Arbitrary<Turn> = fc.record({
  calls: fc.array(
    fc.record({
      name: fc.constantFrom('lookup_order', 'refund_policy', 'refund'),
      args: fc.dictionary(fc.constantFrom('order_id', 'amount', 'country'), value, {
        maxKeys: 3,
        noNullPrototype: true,
      }),
      result: value,
    }),
    { minLength: 1, maxLength: 3 },
  ),
  together: fc.boolean(),
})

export const turns: fc.Arbitrary<readonly Turn[]> = fc.array(turn, { minLength: 1, maxLength: 4 })

/** The run of an agent on chat completions that takes these turns: every call asked for by the model runs as a wrapped tool. */
export function runOf(taken: readonly Turn[], answer = 'Done.'): Tape {
  const making = new RunMaking()
  for (const one of taken) making.turn(one)
  making.say(answer)
  return tapeOf(making.events, { close: { ...making.close, outcome: { status: 'returned', value: { answer } } } })
}

class RunMaking {
  readonly events: TapeEvent[] = []
  readonly #messages: Json[] = [
    { role: 'system', content: 'Be kind.' },
    { role: 'user', content: 'Refund A-17.' },
  ]
  #n = 0
  #at = 0
  #ids = 0

  get close(): { readonly n: number; readonly at: number } {
    return { n: this.#n + 1, at: this.#at }
  }

  turn({ calls, together }: Turn): void {
    const asked = calls.map(({ name, args, result }) => ({ id: `call_${++this.#ids}`, name, args, result }))
    this.#ask(
      {
        role: 'assistant',
        content: null,
        tool_calls: asked.map(({ id, name, args }) => ({
          id,
          type: 'function',
          function: { name, arguments: JSON.stringify(args) },
        })),
      },
      'tool_calls',
    )
    const issue = ({ name, args }: (typeof asked)[number]) => {
      const [n, at] = this.#moment()
      return { kind: 'tool' as const, n, at, name, args }
    }
    const settle = (event: ReturnType<typeof issue>, result: Json): void => {
      this.events.push({ ...event, settled: this.#moment(), result })
    }
    if (together) {
      const issued = asked.map((call) => [issue(call), call.result] as const)
      for (const [event, result] of issued.toReversed()) settle(event, result)
    } else for (const call of asked) settle(issue(call), call.result)
    for (const { id, result } of asked)
      this.#messages.push({ role: 'tool', tool_call_id: id, content: JSON.stringify(result) })
  }

  say(text: string): void {
    this.#ask({ role: 'assistant', content: text }, 'stop')
  }

  #ask(message: Json, finish: string): void {
    const [n, at] = this.#moment()
    const head = this.#moment()
    const body = {
      id: `chatcmpl-${n}`,
      object: 'chat.completion',
      model: 'gpt-5-2026-01-01',
      choices: [{ index: 0, finish_reason: finish, message }],
      usage: { prompt_tokens: 100 + n, completion_tokens: 20, prompt_tokens_details: { cached_tokens: 7 } },
    }
    const request = { model: 'gpt-5', messages: [...this.#messages], temperature: 0, tools: offered }
    this.events.push({
      kind: 'exchange',
      n,
      at,
      via: 'undici',
      method: 'POST',
      url: 'https://api.openai.com/v1/chat/completions',
      request: { headers: [['content-type', 'application/json']], body: JSON.stringify(request) },
      response: {
        moment: head,
        status: 200,
        statusText: 'OK',
        headers: [['content-type', 'application/json']],
        chunks: [[...this.#moment(0), JSON.stringify(body)]],
        end: this.#moment(0),
      },
    } satisfies ExchangeEvent)
    this.#messages.push(message)
  }

  /** The next moment, some time after the one before. */
  #moment(later = 1.25): Moment {
    this.#at += later
    return [this.#n++, this.#at]
  }
}

const offered = ['lookup_order', 'refund_policy', 'refund'].map((name) => ({
  type: 'function',
  function: { name, parameters: { type: 'object', properties: {} } },
}))

/** The text of an export. */
export function textOf(pieces: Iterable<string>): string {
  return [...pieces].join('')
}
