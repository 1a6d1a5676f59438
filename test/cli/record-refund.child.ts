// Records one run of the refund agent against a provider of its own: node record-refund.child.ts <folder> <id>
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createRecorder } from '../../src/record/index.ts'
import { refundAgent } from './refund-agent.ts'

const [dir = '', id = ''] = process.argv.slice(2)
const message = {
  role: 'assistant',
  content: 'Done.\u001b[2J\u202e\n::error::forged',
  tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'lookup_order', arguments: '{"order":"A1"}' } }],
}
const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
  request.resume().on('end', () => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ model: 'invented-1', choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }))
  })
})
await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
const provider = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const recorder = createRecorder({ dir, commit: '4f2a9c1' })
const ticket = { order: 'A1', provider }
await recorder.run({ agent: 'refund', id, input: ticket }, () => refundAgent(ticket))
server.close()
