// node size.child.ts FOLDER UPSTREAM [ADAPTER]: records 300 calls into FOLDER, with our recorder or with that of a peer.
import { createRecorder } from '../../src/record/index.ts'

const [dir = '', upstream = '', adapter = ''] = process.argv.slice(2)

interface Session {
  readonly base: string
  close(): Promise<unknown>
}

if (adapter === '') {
  const recorder = createRecorder({ dir })
  await recorder.run({ agent: 'support', id: 'calls' }, () => ask(upstream))
} else {
  const { open } = (await import(adapter)) as { open(mode: string, options: object): Promise<Session> }
  const session = await open('record', { dir, name: 'calls', upstream })
  await ask(session.base)
  await session.close()
}

async function ask(base: string): Promise<void> {
  for (let n = 0; n < 300; n++) {
    const messages = [
      { role: 'system', content: 'You answer questions about orders. Be short, be right, promise nothing.' },
      { role: 'user', content: `Where is my order ${n}?` },
    ]
    const response = await fetch(`${base}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer sk-not-a-key' },
      body: JSON.stringify({ model: 'gpt-5', n, messages }),
    })
    await response.text()
  }
}
