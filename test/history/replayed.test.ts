import { globSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { installReplay, replayTape } from '../../src/replay/index.ts'
import { formatVersion, readTape } from '../../src/tape/index.ts'
import { knownFlags } from '../../src/tape/flags.ts'

/*
 * Runs recorded by every recorder there was, each beside the agent that made it. Neither is ever changed: a version that
 * does not replay one of them has broken the promise that a tape replays for ever. A recorder that writes something new
 * adds a tape (`record.ts` beside the agent), a new format version adds a folder.
 */
const files = globSync('*/*.tape.jsonl', { cwd: import.meta.dirname }).sort()
const tapes = files.map((file) => readTape(join(import.meta.dirname, file)))

await installReplay()

test.each(files)('%s is replayed as it was recorded', async (file) => {
  const tape = readTape(join(import.meta.dirname, file))
  const { agent } = (await import(`./${dirname(file)}/agent.ts`)) as { agent: (input: unknown) => Promise<unknown> }
  const { outcome, problems, drift, unused, comparison } = await replayTape(tape, agent)
  expect({ problems, drift, unused }).toEqual({ problems: [], drift: [], unused: [] })
  expect(comparison.outcomeEqual).toBe(true)
  expect(outcome).toMatchObject({ status: basename(file).includes('throws') ? 'threw' : 'returned' })
})

test('there is a replayed tape of every format version, of every flag, and of every kind of event', () => {
  const versions = Array.from({ length: formatVersion }, (_, index) => index + 1)
  expect([...new Set(tapes.map(({ header }) => header.harvest))]).toEqual(versions)
  expect(new Set(tapes.flatMap(({ header }) => header.flags))).toEqual(new Set(knownFlags))
  expect(new Set(tapes.flatMap(({ events }) => events.map(({ kind }) => kind)))).toEqual(
    new Set(['draws', 'exchange', 'mark', 'message', 'push', 'retrieval', 'spawn', 'tool', 'value']),
  )
})
