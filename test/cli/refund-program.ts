// A program as a user has it: asks a model twice, says what it did, and ends with an exit code of its own.
// node refund-program.ts <provider> <order>
const [provider = '', order = ''] = process.argv.slice(2)
const asked = [`${process.env['REFUND_PROMPT'] ?? 'Refund this order'}: ${order}`, `Really refund ${order}?`]
if (process.env['REFUND_TWICE'] !== undefined) asked.push('Anything else entirely?')

const startedAt = Date.now()
for (const content of asked) {
  const response = await fetch(`${provider}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'invented-1', messages: [{ role: 'user', content }] }),
  })
  const { choices } = (await response.json()) as { choices: readonly { message: { content: string } }[] }
  console.log(choices[0]?.message.content)
}
console.log(`refund ${order} at ${startedAt}, ticket ${Math.floor(Math.random() * 1e9)}`)
console.error('one refund is waiting')
process.exitCode = Number(process.env['REFUND_EXIT'] ?? 3)
