import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { BackOffInput } from '../../fixtures/agents/backs-off.ts'
import type { AgentInput } from '../../fixtures/agents/index.ts'
import { runInChild } from '../../fixtures/child/index.ts'
import { withProvider } from '../../fixtures/provider/index.ts'
import { installReplay, replayTape } from '../../src/replay/index.ts'
import { readTape } from '../../src/tape/index.ts'
import { isBitExact } from '../clients/bit-exact.ts'
import type { ClockJob, RecordedClock } from './clock/record.child.ts'

const runs = 25

describe('clock and chance', () => {
  let dir = ''
  let recorded: Readonly<Record<string, RecordedClock>> = {}

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'harvest-clock-'))
    recorded = await record(dir)
    await installReplay()
  })
  afterAll(() => rm(dir, { recursive: true, force: true }))

  test('an agent that writes the moment into its prompts and tool results writes the recorded moment', async () => {
    const { agent } = await import('../../fixtures/agents/clock-and-ids.ts')
    for (let index = 0; index < runs; index += 1) {
      const { tape, result } = recorded[`clock-${index}`]!
      const replay = await replayTape(readTape(tape), (input) => agent(input as AgentInput))
      expect(replay.problems.map(({ message }) => message)).toEqual([])
      expect(replay.outcome).toEqual({ status: 'returned', value: result })
      expect(replay.comparison).toSatisfy(isBitExact)
      expect(replay.comparison.drawsMissed).toBe(0)
    }
  })

  test('an agent that backs off for hours is replayed without waiting', async () => {
    const { agent } = await import('../../fixtures/agents/backs-off.ts')
    const { tape, result } = recorded['backs-off']!
    // Recorded with 2 ms so that the recording is short; the code now waits 3, 6, 12, 24 and 48 minutes.
    const replay = await replayTape(readTape(tape), (input) => {
      return agent({ ...(input as BackOffInput), backOffMs: 180_000 })
    })
    expect(replay.problems.map(({ message }) => message)).toEqual([])
    expect(replay.outcome).toEqual({ status: 'returned', value: result })
    expect(replay.comparison).toSatisfy(isBitExact)
    expect(replay.comparison.timersFired).toBeGreaterThanOrEqual(5)
  })
})

function record(dir: string): Promise<Readonly<Record<string, RecordedClock>>> {
  return withProvider(async (provider) => {
    const { base, h2base, tlsbase, tlsh2base } = provider
    const job: ClockJob = { dir, runs, addresses: { base, h2base, tlsbase, tlsh2base } }
    return await runInChild(new URL('./clock/record.child.ts', import.meta.url), job)
  })
}
