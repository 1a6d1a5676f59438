// Reads `performance.now` in every way there is, before and after the first fetch, and `Date.now` where a stream ends, and says
// what it found.
// node clock.child.ts <folder>. Imports no `node:http`, which loads undici with its first import.
import { createRequire } from 'node:module'
import perfHooks, { performance as named } from 'node:perf_hooks'
import stream, { finished } from 'node:stream'
import { createRecorder } from '../../src/record/index.ts'

const { performance: early } = perfHooks
const recorder = createRecorder({ dir: process.argv[2] ?? '' })

/** Each way to the clock once. Whether they are one object. */
async function read(): Promise<boolean> {
  const late = (await import('node:perf_hooks')).performance
  const required = (createRequire(import.meta.url)('node:perf_hooks') as typeof perfHooks).performance
  const ways = [globalThis.performance, named, early, perfHooks.performance, late, required]
  for (const way of ways) way.now()
  return ways.every((way) => way === ways[0])
}

/** The end of an answer, in each way to hear of it. Undici hears of it first, and reads the clock then. */
async function readAtEnd(): Promise<boolean> {
  for (const way of [finished, stream.finished]) {
    const { body } = new Response('hello')
    const ended = new Promise<void>((done) => {
      way(body as unknown as NodeJS.ReadableStream, () => {
        Date.now()
        done()
      })
    })
    await new Response(body).text()
    await ended
  }
  return finished === stream.finished
}

const howStored = (): string =>
  [Object.getOwnPropertyDescriptor(perfHooks, 'performance'), Object.getOwnPropertyDescriptor(stream, 'finished')]
    .map((how) => Object.keys(how ?? {}).join(' '))
    .join(', ')

const isOne: boolean[] = []
const stored: string[] = []
await recorder.run({ agent: 'clock' }, async () => {
  isOne.push(await read())
  stored.push(howStored())
  await (await fetch('data:text/plain,hello')).text()
  stored.push(howStored())
  isOne.push(await read())
  isOne.push(await readAtEnd())
})
console.log(JSON.stringify({ tape: recorder.lastTape, isOne, stored }))
