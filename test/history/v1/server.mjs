import { createInterface } from 'node:readline'

// Tells of its progress before it answers.
for await (const line of createInterface(process.stdin)) {
  const { id } = JSON.parse(line)
  console.log(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params: { progress: 1 } }))
  console.log(JSON.stringify({ jsonrpc: '2.0', id, result: { tools: [{ name: 'lookup_order' }], seed: Math.random() } }))
}
