import { execFileSync } from 'node:child_process'
import { resolve } from 'node:path'
import type { RecorderOptions } from '../../src/record/index.ts'
import { meter } from '../../src/record/usage.ts'
import type { ExchangeEvent } from '../../src/tape/index.ts'
import type { Bench, Table } from '../kit/contract.ts'
import { figure, inTurn, ratios } from '../kit/measure.ts'

const bench: Bench = {
  question: 'What does it cost to count what runs use?',
  async run({ isQuick, progress }) {
    progress('starting')
    const rounds = isQuick ? 3 : 15
    return { tables: [await starts(rounds), await readings(isQuick ? 5 : 15, progress)], bars: [] }
  },
}
export default bench

const door = resolve('dist/record/index.js')

async function starts(rounds: number): Promise<Table> {
  const figures = await inTurn(
    {
      plain: async () => startMs({ sample: 0.05 }),
      counting: async () => startMs({ sample: 0.05, budget: { calls: { soft: 5 } } }),
    },
    rounds,
  )
  return {
    title: 'Importing the recorder and making one',
    columns: ['with a budget ÷ without'],
    rows: [[figure(ratios(figures, 'counting', 'plain'))]],
  }
}

function startMs(options: RecorderOptions): number {
  const source = `const t = performance.now(); import('${door}').then((m) => { m.createRecorder(${JSON.stringify(options)}); console.log(performance.now() - t) })`
  return Number(execFileSync(process.execPath, ['-e', source]))
}

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

async function readings(rounds: number, progress: (line: string) => void): Promise<Table> {
  const rows: string[][] = []
  for (const kilobytes of [4, 64, 1024]) {
    const content = sentence.repeat((kilobytes * 1024) / sentence.length)
    const body = JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content }] })
    for (const [name, chunks] of [
      ['at once', [whole]],
      ['as a stream', streamed],
    ] as const) {
      progress(`a prompt of ${kilobytes} KB, answered ${name}`)
      const figures = await inTurn(
        {
          meter: async () =>
            per100(
              () => exchange(body, chunks),
              (each) => meter(each, undefined),
            ),
          parse: async () => per100(() => [body, ...chunks], parseAll),
        },
        rounds,
      )
      rows.push([
        `${kilobytes} KB, ${name}`,
        figure(figures.get('meter') ?? [], 3),
        figure(ratios(figures, 'meter', 'parse')),
      ])
    }
  }
  return { title: 'Reading one exchange', columns: ['prompt, answered', 'ms', '÷ JSON.parse of the same'], rows }
}

/** Milliseconds per piece of work, over a hundred of them made before the clock starts. */
function per100<T>(make: () => T, work: (each: T) => unknown): number {
  const all = Array.from({ length: 100 }, make)
  const begin = performance.now()
  for (const each of all) work(each)
  return (performance.now() - begin) / all.length
}

function parseAll(texts: readonly string[]): void {
  for (const text of texts) {
    const json = text.startsWith('data: ') ? text.slice(6) : text
    if (json.startsWith('{')) JSON.parse(json)
  }
}

function exchange(body: string, chunks: readonly string[]): ExchangeEvent {
  return {
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
  }
}
