// What it costs to count what runs use: loading the readers of provider dialects, and reading each exchange.
// npm run build && node bench/record-keep.ts
import { execFileSync } from 'node:child_process'
import { resolve } from 'node:path'
import { meter } from '../src/record/meter.ts'
import type { RecorderOptions } from '../src/record/index.ts'
import type { ExchangeEvent } from '../src/tape/index.ts'

/** The quickest of several tries: everything slower was the machine. */
function quickest(tries: number, work: () => number): number {
  return Math.min(...Array.from({ length: tries }, work))
}

const door = resolve('dist/record/index.js')
function startMs(options: RecorderOptions): number {
  const source = `const t = performance.now(); import('${door}').then((m) => { m.createRecorder(${JSON.stringify(options)}); console.log(performance.now() - t) })`
  return quickest(20, () => Number(execFileSync(process.execPath, ['-e', source])))
}

const plain = startMs({ sample: 0.05 })
const counting = startMs({ sample: 0.05, budget: { calls: { soft: 5 } } })
console.log(
  `start-up: ${plain.toFixed(1)} ms, counting ${counting.toFixed(1)} ms (${(counting / plain).toFixed(2)} times)`,
)

const sentence = 'The customer asks where order 4711 is and wants the 25 EUR back that were promised on Monday. '
const message = { role: 'assistant', content: sentence.repeat(20) }
const usage = { prompt_tokens: 4000, completion_tokens: 400 }
const whole = JSON.stringify({ model: 'gpt-4o', choices: [{ index: 0, message, finish_reason: 'stop' }], usage })
const pieces = Array.from(
  { length: 400 },
  (_, i) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: sentence.slice(i % 80, (i % 80) + 5) } }] })}\n\n`,
)
const streamed = [...pieces, `data: ${JSON.stringify({ choices: [], usage })}\n\n`, 'data: [DONE]\n\n']

for (const kilobytes of [4, 64, 1024]) {
  const content = sentence.repeat((kilobytes * 1024) / sentence.length)
  const body = JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content }] })
  for (const [name, chunks] of [
    ['whole', [whole]],
    ['streamed', streamed],
  ] as const) {
    const event = (): ExchangeEvent => ({
      kind: 'exchange',
      n: 1,
      at: 1,
      via: 'undici',
      method: 'POST',
      url: 'https://api.example/v1/chat/completions',
      request: { headers: [['content-type', 'application/json']], body },
      response: {
        moment: [2, 2],
        status: 200,
        headers: [],
        chunks: chunks.map((text, i) => [3 + i, 3, text]),
        end: [999, 9],
      },
    })
    const calls = 100
    const ms = quickest(10, () => {
      const events = Array.from({ length: calls }, event)
      const from = performance.now()
      for (const each of events) meter(each, undefined)
      return (performance.now() - from) / calls
    })
    console.log(`a ${name} answer to a prompt of ${kilobytes} kB: ${ms.toFixed(3)} ms`)
  }
}
