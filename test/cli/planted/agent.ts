// Carries planted secrets to every place a run can carry them. `PLANTED_BROKEN` makes it do something else everywhere.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { asField, asPair, asText, type Planted, planted } from '../../privacy/planted.ts'
import { mark, message, retriever, tool, value } from './record.ts'

export interface Task {
  readonly place: string
  readonly base: string
  /** Anything; for the place that carries secrets in the input. */
  readonly notes?: unknown
}

export const batches: readonly (readonly Planted[])[] = Array.from(
  { length: Math.ceil(planted.length / 16) },
  (_, at) => planted.slice(at * 16, at * 16 + 16),
)

const broken = (): boolean => process.env['PLANTED_BROKEN'] !== undefined
const oneLine = ({ value: text }: Planted): string => text.replaceAll('\n', ' ')

/** Every place; each is one run. */
export const places: Readonly<Record<string, (task: Task) => Promise<unknown>>> = {
  'request-json': ({ base }) =>
    each((batch) =>
      post(
        base,
        JSON.stringify({ messages: batch.map((one) => ({ role: 'user', content: asText(one), ...asField(one) })) }),
      ),
    ),
  'request-json-in-json': ({ base }) =>
    each((batch) =>
      post(base, JSON.stringify({ calls: batch.map((one) => ({ arguments: JSON.stringify(asField(one)) })) })),
    ),
  'request-form': ({ base }) => each((batch) => post(base, new URLSearchParams(batch.map((one) => asPair(one))))),
  'request-multipart': ({ base }) =>
    each((batch) => {
      const form = new FormData()
      for (const one of batch) form.append(...asPair(one))
      form.append('file', new Blob([batch.map(asText).join('\n')], { type: 'text/plain' }), 'notes.txt')
      return post(base, form)
    }),
  'request-yaml': ({ base }) =>
    each((batch) =>
      post(
        base,
        batch
          .map(
            (one) =>
              `- ${one.name ?? 'note'}: ${one.value.includes('\n') ? `|\n    ${one.value.replaceAll('\n', '\n    ')}` : one.value}\n`,
          )
          .join(''),
      ),
    ),
  'request-headers': ({ base }) =>
    each(async (batch) => {
      for (const one of batch)
        await post(base, '{}', {
          [one.name ?? 'x-note']: oneLine(one),
          'user-agent': one.name === undefined ? `agent ${oneLine(one)}` : 'agent',
        })
    }),
  url: ({ base }) =>
    each(async (batch) => {
      for (const one of batch) await read(fetch(`${base}/seen?page=1&${new URLSearchParams([asPair(one)]).toString()}`))
    }),
  'response-json': ({ base }) => answered(base, 'json'),
  'response-pieces': ({ base }) => answered(base, 'pieces'),
  'response-events': ({ base }) => answered(base, 'events'),
  'response-gzip': ({ base }) => answered(base, 'gzip'),
  'response-br': ({ base }) => answered(base, 'br'),
  'response-headers': ({ base }) =>
    each(async (batch, at) => void (await read(fetch(`${base}/headers/${at}`, { redirect: 'manual' })))),
  'tool-arguments': () =>
    each((batch) => toolCalls(batch, (one) => tool('use', (_: unknown) => Promise.resolve('ok'))(asField(one)))),
  'tool-arguments-of-classes': () =>
    each((batch) =>
      toolCalls(batch, (one) =>
        tool('use', (..._: unknown[]) => 'ok')(
          new Map([asPair(one)]),
          Buffer.from(asText(one)),
          new Headers([[one.name ?? 'x-note', oneLine(one)]]),
          [`--${one.name ?? 'note'}`, one.value],
        ),
      ),
    ),
  'tool-results': () =>
    each((batch) =>
      toolCalls(batch, (one) => tool('get', () => Promise.resolve({ text: asText(one), ...asField(one) }))()),
    ),
  'tool-errors': () =>
    each((batch) =>
      toolCalls(batch, (one) =>
        tool('fail', () => Promise.reject(Object.assign(new Error(asText(one)), asField(one))))().catch(() => 'failed'),
      ),
    ),
  'tool-pieces': () =>
    each((batch) =>
      toolCalls(batch, async (one) => {
        const stream = tool('stream', async function* () {
          yield asField(one)
          await Promise.resolve()
          yield asText(one)
        })
        for await (const piece of stream()) void piece
      }),
    ),
  retrieval: () =>
    each((batch) =>
      toolCalls(batch, (one) =>
        retriever('search', (_: string) => Promise.resolve([asText(one), asField(one)]))(asText(one)),
      ),
    ),
  values: () =>
    each((batch) =>
      toolCalls(batch, (one) => Promise.resolve(value('row', () => ({ ...asField(one), text: asText(one) })))),
    ),
  'marks-and-messages': () =>
    each((batch) => {
      for (const one of batch) {
        mark('seen', { text: asText(one), ...asField(one) })
        message('planner', 'worker', asField(one))
      }
      return Promise.resolve()
    }),
  input: ({ notes }) => Promise.resolve(typeof notes),
  'return-value': async () => {
    await tool('look', () => Promise.resolve('ok'))()
    return planted.map((one) => ({ text: asText(one), ...asField(one) }))
  },
  'thrown-error': async () => {
    await tool('look', () => Promise.resolve('ok'))()
    throw Object.assign(new Error(planted.map(asText).join('\n')), { config: planted.map(asField), code: 'E_PLANTED' })
  },
  'child-process': () => askChild(),
  // Another question is asked of the model, with secrets in it, where it is broken.
  'model-question': ({ base }) =>
    each(async (batch) => {
      const content = broken() ? `Be fair. ${batch.map(asText).join(' ')}` : 'Be fair.'
      const messages = [
        { role: 'system', content },
        { role: 'user', content: 'Refund?' },
      ]
      const body = JSON.stringify({ model: 'gpt-4.1', messages })
      await read(fetch(`${base}/v1/chat/completions`, { method: 'POST', body }))
    }),
}

export async function agent(task: Task): Promise<unknown> {
  const run = places[task.place]
  if (run === undefined) throw new TypeError(`there is no place ${task.place}`)
  if (broken() && task.place !== 'model-question')
    await tool('detour', (_: unknown) => Promise.resolve('ok'))(planted.map(asField))
  return run(task)
}

async function each(work: (batch: readonly Planted[], at: number) => Promise<unknown>): Promise<string> {
  for (const [at, batch] of batches.entries()) await work(batch, at)
  return 'done'
}

async function toolCalls(batch: readonly Planted[], call: (one: Planted) => unknown): Promise<void> {
  for (const one of batch) await call(one)
}

async function post(
  base: string,
  body: string | URLSearchParams | FormData,
  headers: Record<string, string> = {},
): Promise<void> {
  await read(
    fetch(`${base}/seen`, { method: 'POST', body: broken() && typeof body === 'string' ? `${body} ` : body, headers }),
  )
}

async function read(asked: Promise<Response>): Promise<string> {
  const response = await asked
  return response.text()
}

/** What was answered goes into the next question. */
function answered(base: string, how: string): Promise<string> {
  return each(async (_, at) => post(base, await read(fetch(`${base}/${how}/${at}`))))
}

async function askChild(): Promise<string> {
  const flags = planted.filter((_, at) => at % 7 === 0).flatMap((one) => [`--${one.name ?? 'note'}`, one.value])
  const child = spawn(process.execPath, [new URL('./child.ts', import.meta.url).pathname, ...flags], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  // What is written before is not heard.
  await once(child, 'spawn')
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  for (const [id, one] of planted.entries()) {
    child.stdin.write(
      `${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'use', arguments: asField(one) } })}\n`,
    )
    await lines.next()
  }
  child.stdin.end()
  await once(child, 'exit')
  return 'done'
}
