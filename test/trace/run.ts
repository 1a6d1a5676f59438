import type { CallEvent, ExchangeEvent, Json, TapeEvent } from '../../src/tape/types.ts'
import { renderBaseline, traceOf } from '../../src/trace/index.ts'

/** Writes events in the order things happen: every step takes the next moment. */
export class Run {
  readonly events: TapeEvent[] = []
  readonly messages: Json[] = [{ role: 'user', content: 'Refund order 100X.' }]
  #n = 0

  next(): number {
    return ++this.#n
  }

  /** A wrapped call, begun now; the function returned settles it. */
  begin(name: string, args: Json = {}, more: Partial<CallEvent> = {}): { n: number; settle: () => void } {
    const n = this.next()
    const index = this.events.push({ kind: 'tool', n, at: n, name, args, ...more }) - 1
    const settle = (): void => {
      const at = this.next()
      this.events[index] = { ...(this.events[index] as CallEvent), settled: [at, at], result: null }
    }
    return { n, settle }
  }

  call(name: string, args: Json = {}, more: Partial<CallEvent> = {}): number {
    const { n, settle } = this.begin(name, args, more)
    settle()
    return n
  }

  exchange(url: string, request: Json, response: Json, more: Partial<ExchangeEvent> = {}): number {
    const n = this.next()
    const [head, chunk, end] = [this.next(), this.next(), this.next()]
    this.events.push({
      kind: 'exchange',
      n,
      at: n,
      via: 'undici',
      method: 'POST',
      url,
      request: { headers: [], body: JSON.stringify(request) },
      response: {
        moment: [head, head],
        status: 200,
        headers: [],
        chunks: [[chunk, chunk, JSON.stringify(response)]],
        end: [end, end],
      },
      ...more,
    })
    return n
  }

  /** A chat turn that asks for tools, `name` or `[name, args]`; ids are `<turn>.<index>`. */
  model(asked: readonly (string | readonly [string, Json])[] = [], more: Partial<ExchangeEvent> = {}): string[] {
    const turn = this.messages.length
    const tool_calls = asked.map((one, i) => {
      const [name, args] = typeof one === 'string' ? [one, {}] : one
      return { id: `${turn}.${i}`, type: 'function', function: { name, arguments: JSON.stringify(args) } }
    })
    const message = { role: 'assistant', content: '', ...(asked.length > 0 ? { tool_calls } : {}) }
    const body = { choices: [{ index: 0, message, finish_reason: asked.length > 0 ? 'tool_calls' : 'stop' }] }
    this.exchange('https://api.example/v1/chat/completions', { model: 'm', messages: [...this.messages] }, body, more)
    this.messages.push(message)
    return tool_calls.map(({ id }) => id)
  }

  answer(...ids: readonly string[]): void {
    for (const id of ids) this.messages.push({ role: 'tool', tool_call_id: id, content: 'done' })
  }

  mcp(name: string, args: Json = {}, more: Partial<ExchangeEvent> = {}): number {
    const request = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }
    return this.exchange('https://mcp.example/mcp', request, { jsonrpc: '2.0', id: 1, result: { content: [] } }, more)
  }

  /** The trace as its baseline would be written. */
  get trace(): Json {
    return renderBaseline(traceOf(this.events))
  }
}
