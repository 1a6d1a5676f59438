// node scripts/blame-chances.ts [--blames 64] [--turns 5] [--chances 0.2,0.3,0.4,0.5,0.7] [--json FILE]: blames runs of a live agent
// whose model decides right with a known chance at one step, and says the same words each time everywhere else.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { blame } from '../src/blame/blame.ts'
import { createRecorder, tools } from '../src/record/index.ts'
import { installReplay } from '../src/replay/index.ts'
import { readTape, type Tape } from '../src/tape/index.ts'

const { values } = parseArgs({
  options: {
    blames: { type: 'string', default: '64' },
    turns: { type: 'string', default: '5' },
    chances: { type: 'string', default: '0.2,0.3,0.4,0.5,0.7' },
    seed: { type: 'string', default: '1' },
    json: { type: 'string' },
  },
})
const turns = Number(values.turns)

/** Numbers in [0, 1) that follow from a seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

const steps = tools({ look: async ({ at, want }: { at: number; want: number }) => ({ at, total: want }) })

/** Asks its model in turns and runs the tool it wants; what it answers follows from what the model wanted at its turns. */
async function agent(input: unknown): Promise<{ readonly answer: string }> {
  const { url } = input as { readonly url: string }
  const messages: unknown[] = [{ role: 'user', content: 'Sum the orders up.' }]
  for (;;) {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model: 'gpt-4o', messages }),
    })
    const { choices } = (await response.json()) as { choices: { message: Message }[] }
    const message = choices[0]!.message
    messages.push(message)
    const [call] = message.tool_calls ?? []
    if (call === undefined) return { answer: message.content ?? '' }
    const { at, want } = JSON.parse(call.function.arguments) as { at: number; want: number }
    messages.push({
      role: 'tool',
      tool_call_id: call.id,
      content: JSON.stringify(await steps.look({ at, want })),
    })
  }
}

interface Message {
  readonly content: string | null
  readonly tool_calls?: { readonly id: string; readonly function: { readonly arguments: string } }[]
}

/** A model that wants 1 at every turn; at the deciding one it wants 1 with a chance, and else 9. */
async function openModel() {
  const model = { decider: 0, right: (): boolean => true, asked: 0 }
  const server = createServer((request, response) => {
    const body: Buffer[] = []
    request.on('data', (chunk: Buffer) => body.push(chunk))
    request.on('end', () => {
      model.asked++
      const { messages } = JSON.parse(Buffer.concat(body).toString()) as { messages: { role: string }[] }
      const at = messages.filter(({ role }) => role === 'tool').length
      const isWrong = JSON.stringify(messages).includes('want\\":9')
      const want = at === model.decider && !model.right() ? 9 : 1
      const message =
        at < turns
          ? {
              role: 'assistant',
              content: null,
              tool_calls: [
                {
                  id: `call_${at}`,
                  type: 'function',
                  function: { name: 'look', arguments: JSON.stringify({ at, want }) },
                },
              ],
            }
          : { role: 'assistant', content: isWrong ? 'The sum is wrong.' : 'The sum is right.' }
      const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 }
      response.setHeader('content-type', 'application/json')
      response.end(
        JSON.stringify({
          id: 'c-1',
          object: 'chat.completion',
          created: 1,
          model: 'gpt-4o',
          choices: [{ index: 0, message }],
          usage,
        }),
      )
    })
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return Object.assign(model, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  })
}

const dir = mkdtempSync(join(tmpdir(), 'harvest-chances-'))
const model = await openModel()
await installReplay()
const recorder = createRecorder({ dir })
const rows: object[] = []
for (const chance of values.chances.split(',').map(Number)) {
  const count = { right: 0, certified: 0, wrong: 0, abstained: 0, forks: 0, most: 0 }
  const wrongs: string[] = []
  for (let number = 0; number < Number(values.blames); number++) {
    const random = randomOf(Number(values.seed) * 7919 + number * 104_729 + Math.round(chance * 1000))
    // The recorded run decided wrong; where, is drawn.
    model.decider = Math.floor(random() * turns)
    model.right = () => false
    const input = { url: model.url }
    await recorder.run({ agent: 'sum', input }, () => agent(input))
    const tape: Tape = readTape(recorder.lastTape ?? '')
    model.right = () => random() < chance
    const { verdict, spent } = await blame(tape, {
      agent,
      ok: ['answer~is right'],
      tools: 'live',
      limits: { forks: 400 },
      parallel: 1,
    })
    count.forks += spent.forks
    count.most = Math.max(count.most, spent.forks)
    const right = 2 * model.decider
    if (verdict?.kind === 'confirmed') {
      const named = verdict.commitments.map(({ position }) => position)
      if (named.length === 1 && named[0] === right) count.certified++
      else wrongs.push(`${number}: named ${named.join()} for ${right} (${verdict.commitments[0]?.how})`)
    } else if (verdict?.kind === 'never') {
      // A chance at the bar of .2 may be called none; above it that is wrong.
      if (chance >= 0.3) wrongs.push(`${number}: never (${verdict.how})`)
      else if (verdict.how === 'exact') wrongs.push(`${number}: never (exact)`)
    } else count.abstained++
  }
  count.wrong = wrongs.length
  const row = {
    chance,
    certified: count.certified,
    wrong: count.wrong,
    abstained: count.abstained,
    'mean forks': Math.round(count.forks / Number(values.blames)),
    'most forks': count.most,
  }
  rows.push(row)
  console.log(JSON.stringify(row), wrongs.slice(0, 6).join('; '))
}
console.table(rows)
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(rows, null, 2)}\n`)
model.close()
rmSync(dir, { recursive: true, force: true })
