import {
  currentFlags,
  formatVersion,
  type CallEvent,
  type ExchangeEvent,
  type Json,
  type MarkEvent,
  type MessageEvent,
  type Tape,
  type TapeEvent,
} from '../../src/tape/index.ts'

export interface Asked {
  readonly method?: string
  readonly url?: string
  readonly body?: string
  readonly answer?: string
  readonly at?: number
  readonly in?: number
  readonly error?: { readonly name: string; readonly message: string; readonly code?: string }
}

export const chatUrl = 'https://api.openai.com/v1/chat/completions'

/** Builds events with running numbers: each is asked and answered before the next. */
export class Recording {
  readonly events: TapeEvent[] = []
  #n = 0
  #at = 0

  exchange({
    method = 'POST',
    url = chatUrl,
    body,
    answer = '{"ok":true}',
    at,
    in: inside,
    error,
  }: Asked): ExchangeEvent {
    this.#at = at ?? this.#at + 1
    const [n, issuedAt] = [this.#n++, this.#at]
    const moment = (): readonly [number, number] => [this.#n++, (this.#at += 0.5)]
    const event: ExchangeEvent = {
      kind: 'exchange',
      n,
      at: issuedAt,
      ...(inside === undefined ? {} : { in: inside }),
      via: 'undici',
      method,
      url,
      request: { headers: [], ...(body === undefined ? {} : { body }) },
      ...(error
        ? { error: { ...error, moment: moment() } }
        : {
            response: {
              moment: moment(),
              status: 200,
              headers: [['content-type', 'application/json']],
              chunks: [[...moment(), answer] as const],
              end: moment(),
            },
          }),
    }
    this.events.push(event)
    return event
  }

  call(name: string, args: Json, result: Json, extra: Partial<CallEvent> = {}): CallEvent {
    this.#at += 1
    const [n, at] = [this.#n++, this.#at]
    const event: CallEvent = {
      kind: 'tool',
      n,
      at,
      name,
      args,
      settled: [this.#n++, (this.#at += 0.5)],
      result,
      ...extra,
    }
    this.events.push(event)
    return event
  }

  message(from: string, to: string, body: Json, extra: Partial<MessageEvent> = {}): void {
    this.events.push({ kind: 'message', n: this.#n++, at: this.#at, from, to, body, ...extra })
  }

  mark(name: string, data?: Json, extra: Partial<MarkEvent> = {}): void {
    const event = { kind: 'mark', n: this.#n++, at: this.#at, name, ...extra } as const
    this.events.push(data === undefined ? event : { ...event, data })
  }

  /** Moves all answers of the latest `count` steps behind the last of their requests: they were asked at once. */
  atOnce(count: number): void {
    const steps = this.events.splice(-count) as ExchangeEvent[]
    const first = steps[0]?.n ?? 0
    let n = first
    const at = steps[0]?.at ?? 0
    const asked = steps.map((event) => ({ ...event, n: n++, at }))
    for (const event of asked) {
      const { response } = event
      if (!response) continue
      const later = (): readonly [number, number] => [n++, (this.#at += 0.5)]
      const moment = later()
      const chunks = response.chunks.map(([, , bytes]) => [...later(), bytes] as const)
      this.events.push({ ...event, response: { ...response, moment, chunks, end: later() } })
    }
    this.#n = n
  }

  tape({
    input,
    value,
    id = 'refund',
  }: {
    readonly input?: Json
    readonly value?: Json
    readonly id?: string
  } = {}): Tape {
    return {
      source: `${id}.tape.jsonl`,
      header: {
        harvest: formatVersion,
        id,
        agent: 'refund',
        ...(input === undefined ? {} : { input }),
        startedAt: '2026-03-04T05:06:07.089Z',
        recorder: 'vitest-harvest/0.1.0',
        flags: currentFlags,
        pins: { node: '24.21.0' },
      },
      events: this.events,
      close: {
        kind: 'close',
        n: this.#n,
        at: this.#at + 1,
        outcome: { status: 'returned', value: value ?? null },
        events: this.events.length,
      },
      digest: '',
    }
  }
}

/** A tape of exchanges made one after the other. */
export function tapeOf(asked: readonly Asked[], about: Parameters<Recording['tape']>[0] = {}): Tape {
  const recording = new Recording()
  for (const one of asked) recording.exchange(one)
  return recording.tape(about)
}

/** A chat request as an SDK writes it. */
export function chat(user: string, rest: { readonly [key: string]: unknown } = {}): string {
  return JSON.stringify({ model: 'm-1', messages: [{ role: 'user', content: user }], ...rest })
}
