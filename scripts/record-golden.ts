// Makes the tapes this repository's own cases were promoted from: `node scripts/record-golden.ts`, then
// `npx vitest-harvest promote latest --as …`. Needs nothing but this machine.
import { startShopProvider } from '../fixtures/refund/provider.ts'
import { createRecorder } from '../src/record/index.ts'

const provider = await startShopProvider()
process.env['OPENAI_BASE_URL'] = provider.url
const { refundAgent } = await import('../fixtures/refund/refund-agent.ts')
const recorder = createRecorder({ onTape: (path) => console.log(path) })
const ticket = { text: 'Please refund my order A-100, it arrived broken.' }
await recorder.run({ agent: 'refund', input: ticket }, () => refundAgent(ticket))
await provider.close()
