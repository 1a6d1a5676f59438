// A tool server on standard input and output: answers each line with the secret of the same number.
import { createInterface } from 'node:readline'
import { asField, asText, planted } from '../../privacy/planted.ts'

for await (const line of createInterface({ input: process.stdin })) {
  const { id } = JSON.parse(line) as { id: number }
  const one = planted[id]!
  const result = { content: [{ type: 'text', text: asText(one) }], structuredContent: asField(one) }
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`)
}
