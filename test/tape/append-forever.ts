/*
 * Appends events to the tape named on the command line as fast as it can, until it is killed. Writes the number of
 * each event to stdout, but only after `append` has returned: a number there is a promise kept.
 */
import { writeSync } from 'node:fs'
import { createTapeWriter, currentFlags, formatVersion } from '../../src/tape/index.ts'

const path = process.argv[2]
// Without a path: only fill the compile cache, which a killed process cannot.
if (path === undefined) process.exit(0)
const writer = createTapeWriter({
  path,
  header: {
    harvest: formatVersion,
    id: 'killed',
    agent: 'refund',
    startedAt: '2026-03-04T05:06:07.089Z',
    recorder: 'vitest-harvest/0.1.0',
    flags: currentFlags,
    pins: { node: process.versions.node },
  },
})
let conversation = ''
for (let n = 1; ; n++) {
  conversation = n % 50 === 0 ? '' : `${conversation}and then 😀 the customer said number ${n}, `
  writer.append({
    kind: 'exchange',
    n,
    at: n,
    via: 'undici',
    method: 'POST',
    url: 'https://api.example/v1/messages',
    request: { headers: [], body: conversation },
  })
  writeSync(1, `${n}\n`)
}
