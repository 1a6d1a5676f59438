import { readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createRedactor } from '../../src/privacy/index.ts'
import { createRecorder } from '../../src/record/index.ts'
import { secretsIn } from '../../src/recordings/secrets.ts'
import {
  type ExchangeEvent,
  parseTape,
  readTape,
  requestBytes,
  responseBytes,
  serializeTape,
} from '../../src/tape/index.ts'
import { closing, exchange, header } from '../tape/make.ts'

/**
 * Sends bodies through a real recorder, to a server that answers with what it was sent, and looks at each with the
 * gate of `check` as well: on a tape that holds it as it is, and on the tape that was recorded.
 *
 * @returns where the two do not agree
 */
export async function disagreements(dir: string, bodies: readonly string[]): Promise<string[]> {
  const recorder = createRecorder({ dir })
  const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => void request.pipe(response))
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const found: string[] = []
  try {
    for (const body of bodies) {
      await recorder.run({ agent: 'agree' }, async () => (await fetch(url, { method: 'POST', body })).text())
      const wrong = compared(recorder.lastTape!, body)
      rmSync(recorder.lastTape!)
      if (wrong !== undefined) found.push(`${wrong}: ${JSON.stringify(body)}`)
    }
  } finally {
    server.closeAllConnections()
    server.close()
  }
  return found
}

function compared(path: string, body: string): string | undefined {
  const tape = readTape(path)
  const event = tape.events.find((one): one is ExchangeEvent => one.kind === 'exchange')!
  const sent = requestBytes(event).toString()
  const redactor = createRedactor()
  if (sent !== redactor.text(body)) return 'the recorder wrote another body than its redactor'
  // What was found once in a run is known in all that comes later.
  if (responseBytes(event).toString() !== redactor.text(body)) return 'what was sent back is redacted in another way'
  const raw = serializeTape(header, [exchange(1, body)], closing)
  const isFound = secretsIn(parseTape(raw, 'raw'), raw, createRedactor()).length > 0
  if (isFound !== (sent !== body))
    return isFound ? 'check finds what the recorder kept' : 'check misses what the recorder redacted'
  const left = secretsIn(tape, readFileSync(path, 'utf8'), createRedactor())
  return left.length > 0 ? `check finds something on the tape (${left.join(', ')})` : undefined
}
