/** The project of the demo, in JavaScript, which every Node and every `package.json` reads alike: an agent with a bug, the service around it, and a scripted model in place of a real one. */
export function demoFiles(port: number): Readonly<Record<string, string>> {
  return {
    'vitest.config.mjs': config,
    'src/refund-agent.mjs': agent(port),
    'src/service.mjs': service,
    'src/model.mjs': model(port),
    'src/tools.mjs': standIns,
    'src/edit.mjs': edit,
  }
}

/** What the demo runs, in order, and what each is for. `exit`: how it ends, where that is not 0. */
export const demoSteps: readonly { readonly about: string; readonly command: string; readonly exit?: number }[] = [
  { about: 'Two customers write. Each run is recorded.', command: 'node src/model.mjs node src/service.mjs' },
  {
    about: 'The second one complains: 25.00 EUR became 2500. Find the run by what it did.',
    command: 'npx vitest-harvest ls --call "refund(amount > 1000)"',
  },
  { about: 'See what happened.', command: 'npx vitest-harvest show latest' },
  {
    about: 'Make it a test before anything is fixed.',
    command: 'npx vitest-harvest promote latest --as refund-100x --expect fail --ok "refund(amount: 25)"',
  },
  { about: 'It replays the agent itself: no model, no key, no network.', command: 'npx vitest run' },
  { about: 'Fix the agent: it dropped the decimal point of an amount.', command: 'node src/edit.mjs fix' },
  {
    about: 'The fixed agent runs on from the changed step; its good run takes the place of the bad one.',
    command:
      'node src/model.mjs npx vitest-harvest fix refund-100x --tools ./src/tools.mjs --live --max-tokens 10000 --without none --yes',
  },
  { about: 'Green with the fix …', command: 'npx vitest run' },
  {
    about: '… and red when the bug comes back: the first field that differs is named.',
    command: 'node src/edit.mjs break',
  },
  { about: '', command: 'npx vitest run', exit: 1 },
  { about: '', command: 'node src/edit.mjs fix' },
]

/** Commands for the reader, once the story is over. */
export const demoNext: readonly { readonly about: string; readonly command: string }[] = [
  { about: 'the case, as it is reviewed', command: 'cat recordings/golden/refund-100x.case.yaml' },
  { about: 'the run as a page', command: 'npx vitest-harvest report refund-100x' },
  { about: 'what the golden set lacks', command: 'npx vitest-harvest check --health' },
  { about: 'your own project', command: 'npx vitest-harvest init --dry-run' },
]

// The files are no modules of ours: what they import is found in the project.
const [plugin, recorder, vitestConfig] = ["'vitest-harvest/plugin'", "'vitest-harvest/record'", "'vitest/config'"]
const agentFile = "'./refund-agent.mjs'"

const config = `import { defineConfig } from ${vitestConfig}
import { harvest } from ${plugin}
export default defineConfig({
  plugins: [harvest({ agents: { refund: './src/refund-agent.mjs#refundAgent' } })],
})
`

const agent = (port: number): string => `import { tools } from ${recorder}

const shop = tools({
  lookup_order: async ({ order_id }) => ({ order_id, total: 25 }),
  refund: async ({ order_id, amount }) => ({ order_id, refunded: amount }),
})

/** The model wrote an amount as text. */
const toNumber = (text) => Number(text.replace('.', ''))

async function ask(messages) {
  // A real agent asks its provider; here src/model.mjs answers.
  const response = await fetch('http://127.0.0.1:${port}/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'scripted-1', messages }),
  })
  return (await response.json()).choices[0].message
}

export async function refundAgent(ticket) {
  const messages = [{ role: 'user', content: ticket.text }]
  for (;;) {
    const message = await ask(messages)
    messages.push(message)
    const [call] = message.tool_calls ?? []
    if (call === undefined) return { answer: message.content }
    const { order_id, amount } = JSON.parse(call.function.arguments)
    const result =
      call.function.name === 'refund'
        ? await shop.refund({ order_id, amount: toNumber(amount) })
        : await shop.lookup_order({ order_id })
    messages.push({ role: 'tool', tool_call_id: call.id, content: JSON.stringify(result) })
  }
}
`

const service = `// Starts the story: the agent has its bug, nothing is recorded yet, and two customers write.
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { createRecorder } from ${recorder}

execFileSync(process.execPath, ['src/edit.mjs', 'break'])
rmSync('recordings', { recursive: true, force: true })
const { refundAgent } = await import(${agentFile})
const recorder = createRecorder({ dir: 'recordings/inbox' })
for (const text of ['Refund order A-100, it arrived broken.', 'Refund 25.00 EUR for order A-101.']) {
  const { answer } = await recorder.run({ agent: 'refund', input: { text } }, () => refundAgent({ text }))
  console.log(text, '->', answer)
}
`

const model = (
  port: number,
): string => `// A scripted model on this machine. \`node src/model.mjs <command>\` runs the command while it answers, then stops.
import { spawn } from 'node:child_process'
import { createServer } from 'node:http'

const server = createServer((request, response) => {
  let body = ''
  request.on('data', (chunk) => (body += chunk))
  request.on('end', () => {
    const { messages } = JSON.parse(body)
    const text = messages[0].content
    const [order_id = 'A-100'] = /[A-Z]-\\d+/.exec(text) ?? []
    const [amount = '25'] = /\\d+\\.\\d\\d/.exec(text) ?? []
    const results = messages.filter((one) => one.role === 'tool')
    const call = (name, args) => ({
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'call_' + results.length, type: 'function', function: { name, arguments: JSON.stringify(args) } }],
    })
    const message =
      results.length === 0
        ? call('lookup_order', { order_id })
        : results.length === 1
          ? call('refund', { order_id, amount })
          : { role: 'assistant', content: 'I refunded ' + JSON.parse(results[1].content).refunded + ' EUR.' }
    const usage = { prompt_tokens: 60 * messages.length, completion_tokens: 12 }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ model: 'scripted-1', choices: [{ index: 0, message }], usage }))
  })
})
server.on('error', (error) => {
  console.error('The scripted model cannot listen on port ${port}: ' + error.message)
  process.exitCode = 1
})
server.listen(${port}, '127.0.0.1', () => {
  const [, , command = 'node', ...words] = process.argv
  const child = spawn(command, words, { stdio: 'inherit' })
  child.on('close', (code) => {
    process.exitCode = code ?? 1
    server.closeAllConnections()
    server.close()
  })
})
`

const standIns = `// Stand-ins for tools, for calls that no tape answers.
export const refund = async ({ order_id, amount }) => ({ order_id, refunded: amount })
`

const edit = `// \`node src/edit.mjs fix\` and \`node src/edit.mjs break\` change one line of the agent, as you would.
import { readFileSync, writeFileSync } from 'node:fs'

const file = 'src/refund-agent.mjs'
const [bug, fixed] = ["Number(text.replace('.', ''))", 'Number(text)']
const wanted = process.argv[2] === 'fix' ? fixed : bug
const before = readFileSync(file, 'utf8')
const after = before.replace(/(const toNumber = .* => ).*/, (_, head) => head + wanted)
writeFileSync(file, after)
console.log(before === after ? file + ' is as it was' : file + ': toNumber = ' + wanted)
`
