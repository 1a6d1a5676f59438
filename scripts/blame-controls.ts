// node scripts/blame-controls.ts [--blames 100] [--only WORDS] [--json FILE]: blames runs of a live agent in which no step decided. None may be named.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { blame, type BlameTapeOptions } from '../src/blame/blame.ts'
import { HarvestError } from '../src/errors/index.ts'
import { createRecorder } from '../src/record/index.ts'
import { installReplay } from '../src/replay/index.ts'
import { readTape } from '../src/tape/index.ts'
import { mulberry32 } from '../test/recordings/mulberry32.ts'
import { type LiveModel, openModel, shop, sumAgent } from './live-sums.ts'

const { values } = parseArgs({
  options: {
    blames: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    json: { type: 'string' },
    only: { type: 'string', default: '' },
  },
})

interface Control {
  readonly name: string
  readonly agent?: (input: unknown) => Promise<unknown>
  /** Sets the world of the recorded run; answers with the world of its forks, and how they are asked for. */
  set(model: LiveModel, random: () => number): { forks(): void; readonly asked: Partial<BlameTapeOptions> }
}

const sums = 10
const right = 'The sum is right.'
const wrong = 'The sum is wrong.'

const controls: readonly Control[] = [
  {
    name: 'an oracle that says bad of three runs in ten',
    set(model, random) {
      model.turns = 4
      model.say = () => right
      let isFirst = true
      const oracle = (): boolean => {
        // The recorded run is graded bad, or there would be nothing to ask.
        const isBad = isFirst || random() < 0.3
        isFirst = false
        return !isBad
      }
      return { forks: () => undefined, asked: { oracle, ok: [] } }
    },
  },
  {
    name: 'the environment alone: an answer on the tape is wrong',
    set(model, random) {
      const place = Math.floor(random() * 4)
      let said = 0
      model.turns = 4
      model.want = (turn) => turn
      shop.total = (want) => (want === place ? 9900 : want)
      model.say = (messages) => `${messages.includes('9900') ? wrong : right} (${said++})`
      return { forks: () => undefined, asked: {} }
    },
  },
  {
    name: "the agent's own code alone",
    async agent(input) {
      const { answer } = await sumAgent(input)
      return { answer: answer.replace('right', 'wrong') }
    },
    set(model) {
      let said = 0
      model.turns = 4
      model.say = () => `${right} (${said++})`
      return { forks: () => undefined, asked: {} }
    },
  },
  {
    name: "the agent's own chance behind its last model call",
    async agent(input) {
      await sumAgent(input)
      return { answer: Math.random() < 0.5 ? wrong : right }
    },
    set(model) {
      let said = 0
      model.turns = 4
      model.say = () => `${right} (${said++})`
      return { forks: () => undefined, asked: {} }
    },
  },
  {
    name: 'nothing decides: every step takes a tenth of the chance',
    set(model, random) {
      model.turns = sums
      model.want = () => 9
      model.say = () => wrong
      return {
        forks: () => {
          model.want = () => 1
          model.say = (messages) => {
            const lost = messages.split('want\\":9').length - 1
            return random() < 0.9 * (1 - lost / sums) ? right : wrong
          }
        },
        asked: { tools: 'live', limits: { forks: 150 } },
      }
    },
  },
]

const dir = mkdtempSync(join(tmpdir(), 'harvest-controls-'))
const model = await openModel()
await installReplay()
const recorder = createRecorder({ dir })
const rows: object[] = []
for (const { name, agent = sumAgent, set } of controls.filter((one) => one.name.includes(values.only))) {
  const came: Record<string, number> = {}
  let named = 0
  let forks = 0
  for (let number = 0; number < Number(values.blames); number++) {
    const random = mulberry32(Number(values.seed) * 7919 + number * 104_729 + name.length)
    model.want = () => 1
    shop.total = (want) => want
    const world = set(model, random)
    const input = { url: model.url }
    // A run that went well asks nothing: it is recorded until it went wrong.
    let tape
    do {
      await recorder.run({ agent: 'sum', input }, () => agent(input))
      tape = readTape(recorder.lastTape ?? '')
    } while (name.includes('own chance') && JSON.stringify(tape.close?.outcome).includes(right))
    world.forks()
    const asked = { ok: ['answer~is right'], limits: { forks: 400 }, parallel: 2, ...world.asked }
    const kind = await blame(tape, { agent, ...asked }).then(
      ({ verdict, spent }) => {
        forks += spent.forks
        if (verdict?.kind !== 'confirmed') return verdict?.kind ?? 'none'
        const isOfStep = verdict.commitments.some(({ how }) => how !== 'draws')
        if (isOfStep) named += 1
        return isOfStep ? 'confirmed' : 'draws of the code'
      },
      (error: unknown) => {
        if (HarvestError.is(error)) return error.code
        throw error
      },
    )
    came[kind] = (came[kind] ?? 0) + 1
  }
  const row = { control: name, named, of: Number(values.blames), 'mean forks': forks / Number(values.blames), ...came }
  rows.push(row)
  console.log(JSON.stringify(row))
}
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(rows, null, 2)}\n`)
model.close()
rmSync(dir, { recursive: true, force: true })
process.exitCode = rows.some((row) => (row as { readonly named: number }).named > 0) ? 1 : 0
