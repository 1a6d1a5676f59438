import { readModelCall, type Usage } from '../providers/index.ts'
import { observeHttp } from '../seam/observe/http.ts'
import { observeHttp2 } from '../seam/observe/http2.ts'
import type { ExchangeObserver, ExchangeStart, HeardHeaders, Observer } from '../seam/observe/observer.ts'
import { observeUndici } from '../seam/observe/undici.ts'
import { type SeamCall, type SeamDrawKind, seamState } from '../seam/source.ts'
import { type Chunk, encodeBytes, type ExchangeEvent } from '../tape/index.ts'
import { type TextSizes, usageOf } from '../live/budget.ts'
import { unansweredBecause } from '../live/unreached.ts'

/** A model call that was made beside any run, as a budget counts it. */
export interface HeardCall {
  readonly model: string
  readonly usage: Usage | undefined
  readonly said: TextSizes
  /** Why it has no answer: it was refused, or lost on its way. */
  readonly failed?: string
}

/** Why the last call has no answer. What failed before one that was answered was got over: asked again, or someone else. */
export function lostCall(calls: readonly HeardCall[]): string | undefined {
  return calls.at(-1)?.failed
}

/**
 * Does work that belongs to no run, and hears which models it asks. Nothing of what it does is changed.
 *
 * @param onLost - hears what was asked by work that threw
 */
export async function hearModelCalls<T>(
  work: () => Promise<T>,
  onLost: (calls: readonly HeardCall[]) => void = () => undefined,
): Promise<{ readonly came: T; readonly calls: readonly HeardCall[] }> {
  observeUndici()
  observeHttp()
  observeHttp2()
  const listener = new Listener()
  const calls = (): readonly HeardCall[] => listener.exchanges.flatMap((heard) => heard.asCall())
  try {
    const came = await seamState().runs.run(listener, work)
    return { came, calls: calls() }
  } catch (error) {
    onLost(calls())
    throw error
  }
}

class Listener implements Observer {
  readonly id = 'work beside the runs'
  readonly mode = 'record'
  readonly over = false
  readonly handle = this
  readonly exchanges: HeardExchange[] = []

  draw<T>(_kind: SeamDrawKind, _caller: unknown, real: () => T): T {
    return real()
  }
  call(_call: SeamCall, run: () => unknown): unknown {
    return run()
  }
  mark(_name: string, data: unknown): unknown {
    return data
  }
  exchange(start: ExchangeStart): ExchangeObserver {
    const heard = new HeardExchange(start)
    this.exchanges.push(heard)
    return heard
  }
  // Only what models are asked is counted.
  message(): void {}
  state(): void {}
  spawned(): void {}
  pushed(): void {}
  unrecorded(): void {}
}

class HeardExchange implements ExchangeObserver {
  readonly #start: ExchangeStart
  #headers: NonNullable<ExchangeStart['headers']>
  readonly #sent: Buffer[] = []
  readonly #got: Chunk[] = []
  #head: { readonly status: number; readonly headers: NonNullable<ExchangeStart['headers']> } | undefined
  #isWhole = false
  #error: ExchangeEvent['error']

  constructor(start: ExchangeStart) {
    this.#start = start
    this.#headers = start.headers ?? []
  }

  requestHeaders(pairs: NonNullable<ExchangeStart['headers']>): void {
    this.#headers = pairs
  }
  requestChunk(bytes: Buffer): void {
    this.#sent.push(bytes)
  }
  head(status: number, _statusText: string, { pairs }: HeardHeaders): void {
    this.#head = { status, headers: pairs }
  }
  chunk(bytes: Buffer): void {
    this.#got.push([0, 0, encodeBytes(bytes)])
  }
  end(): void {
    this.#isWhole = true
  }
  error({ name = 'Error', message = '' }: Parameters<ExchangeObserver['error']>[0]): void {
    this.#error = { name, message, moment: [0, 0] }
  }
  // What was asked is paid for, no matter what became of its answer.
  leaving(): void {}
  aborted(): void {}

  /** None when it asked no model. */
  asCall(): readonly HeardCall[] {
    const { via, method, url } = this.#start
    const body = Buffer.concat(this.#sent)
    const event: ExchangeEvent = {
      kind: 'exchange',
      n: 0,
      at: 0,
      via,
      method,
      url,
      request: { headers: this.#headers, ...(body.length === 0 ? {} : { body: encodeBytes(body) }) },
      ...(this.#head === undefined
        ? {}
        : {
            response: {
              moment: [0, 0],
              ...this.#head,
              chunks: this.#got,
              ...(this.#isWhole ? { end: [0, 0] } : {}),
            },
          }),
      ...(this.#error && { error: this.#error }),
    }
    const call = readModelCall(event)
    if (call === undefined || call.isPoll) return []
    const { text = '', toolCalls = [] } = call.response ?? {}
    const answered = text.length + JSON.stringify(toolCalls).length
    const failed = unansweredBecause(event)
    const said = { asked: body.length, answered }
    return [{ model: call.request.model, usage: usageOf(event), said, ...(failed === undefined ? {} : { failed }) }]
  }
}
