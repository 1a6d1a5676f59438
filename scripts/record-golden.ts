// Records this repository's golden set anew: `node scripts/record-golden.ts [WORD…]`, a word being part of a case's name.
// The agents of `fixtures/desk` and `fixtures/refund` ask a provider on this machine, at the port that `hosts` of
// `vitest.config.ts` names. A case that is there already is removed first; look at the diff before you commit it.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { desk } from '../fixtures/desk/mind.ts'
import type { Ticket } from '../fixtures/desk/shop.ts'
import { Faults } from '../fixtures/provider/faults.ts'
import { listen } from '../fixtures/provider/listen.ts'
import { promote, type PromoteTapeOptions } from '../src/index.ts'
import { createRecorder } from '../src/record/index.ts'

interface Recording extends Pick<PromoteTapeOptions, 'expect' | 'lesson' | 'tags'> {
  readonly as: string
  readonly title: string
  readonly agent: string
  readonly group: string
  readonly text: string
  /** The provider's models are overloaded when the run starts. */
  readonly isOverloaded?: boolean
}

const recordings: readonly Recording[] = [
  {
    as: 'refund-broken-item',
    title: 'A broken item is refunded after a look at order and policy',
    agent: 'refund',
    group: 'refund',
    text: 'Please refund my order A-100, it arrived broken.',
  },
  {
    as: 'refund-lost-point',
    title: 'A price with cents is refunded a hundred times',
    agent: 'refund',
    group: 'refund',
    text: 'Please refund the 24.90 EUR of my order B-207.',
    expect: 'fail',
    tags: ['incident'],
    lesson: { wrong: 'refunded 2490 EUR for an order of 25', right: 'never more than the total of the order' },
  },
  {
    as: 'triage-overloaded',
    title: 'A ticket is assigned although the model was overloaded at first',
    agent: 'triage',
    group: 'triage',
    text: 'Give ticket T-31 to the right team.',
    isOverloaded: true,
    tags: ['incident'],
    lesson: { wrong: 'the ticket was dropped with a 529', right: 'ask again, then read the ticket and assign it' },
  },
  {
    as: 'stock-most-pieces',
    title: 'Three warehouses are asked at once',
    agent: 'stock',
    group: 'stock',
    text: 'Where can I have DESK-1?',
  },
  {
    as: 'stock-sold-out',
    title: 'An article that no warehouse has',
    agent: 'stock',
    group: 'stock',
    text: 'Where can I have LAMP-2?',
  },
  {
    as: 'parcel-carrier-down',
    title: 'The carrier does not answer, and the customer reads so',
    agent: 'parcel',
    group: 'shipping',
    text: 'Where is my parcel P-5520?',
    tags: ['incident'],
    lesson: { wrong: 'made a delivery date up', right: 'say that the carrier does not answer' },
  },
  {
    as: 'return-label',
    title: 'A label is made by the weight of the order',
    agent: 'returns',
    group: 'shipping',
    text: 'I want to send order R-88 back.',
  },
  {
    as: 'invoice-handed-over',
    title: 'The front desk hands a question about an invoice over to billing',
    agent: 'front-desk',
    group: 'desk',
    text: 'Where is the invoice of order I-12?',
  },
]

const words = process.argv.slice(2)
const wanted = recordings.filter(({ as }) => words.length === 0 || words.some((word) => as.includes(word)))
let refusals = 0
const faults = new Faults()
const provider = await listen({
  port: 45_209,
  mind: desk,
  faults: {
    plan: (url) =>
      refusals-- > 0 ? { ...faults.plan(url), refuse: { status: 529, retryAfter: '0.2' } } : faults.plan(url),
  },
})
const { base } = provider.addresses
Object.assign(process.env, {
  OPENAI_BASE_URL: `${base}/v1`,
  ANTHROPIC_BASE_URL: base,
  GOOGLE_GEMINI_BASE_URL: base,
  OPENAI_API_KEY: 'not-a-key',
  ANTHROPIC_API_KEY: 'not-a-key',
  GEMINI_API_KEY: 'not-a-key',
})
const agents: Readonly<Record<string, (ticket: Ticket) => Promise<unknown>>> = {
  refund: (await import('../fixtures/refund/refund-agent.ts')).refundAgent,
  triage: (await import('../fixtures/desk/triage.ts')).triage,
  stock: (await import('../fixtures/desk/stock.ts')).stock,
  parcel: (await import('../fixtures/desk/parcel.ts')).parcel,
  returns: (await import('../fixtures/desk/returns.ts')).returns,
  'front-desk': (await import('../fixtures/desk/front-desk.ts')).frontDeskAgent,
}
for (const recording of wanted) await record(recording)
await provider.close()

async function record({ agent, text, isOverloaded = false, ...options }: Recording): Promise<void> {
  const run = agents[agent]!
  const tapes: string[] = []
  const recorder = createRecorder({ onTape: (path) => tapes.push(path) })
  refusals = isOverloaded ? 1 : 0
  await recorder.run({ agent, input: { text } }, () => run({ text }))
  const place = join('recordings/golden', options.group, options.as)
  rmSync(`${place}.case.yaml`, { force: true })
  rmSync(`${place}.tape.jsonl`, { force: true })
  const { file } = await promote(tapes[0]!, { ...options, agent: (input) => run(input as Ticket) })
  rmSync(tapes[0]!)
  console.log(`${options.as}  ${file}`)
}
