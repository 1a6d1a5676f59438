import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Provider, startProvider } from '../../fixtures/provider/index.ts'
import { type Job, load, type Service, startService, tickets } from '../../fixtures/service/index.ts'
import { isSampled } from '../../src/record/index.ts'
import { decodeValue, readTape, type Tape } from '../../src/tape/index.ts'
import { binomialBounds } from './binomial.ts'

describe('a service with three agents answers 1,000 tickets, twelve of them incidents, and keeps one run in twenty', () => {
  const dir = mkdtempSync(join(tmpdir(), 'harvest-service-'))
  const jobs = tickets(1000)
  const incidents = jobs.filter(({ incident }) => incident !== undefined)
  const ordinary = jobs.filter(({ incident }) => incident === undefined)
  const idOf = ({ ticket }: Job): string => ticket.id
  let provider: Provider | undefined
  let service: Service | undefined
  let statuses: readonly number[] = []
  let tapes = new Map<string, Tape>()

  beforeAll(async () => {
    provider = await startProvider()
    service = await startService({ recordings: dir, provider: provider.base })
    statuses = await load(service, jobs)
    await service.stats()
    tapes = new Map(readdirSync(dir).map((name) => [name.replace('.tape.jsonl', ''), readTape(join(dir, name))]))
  })
  afterAll(async () => {
    await service?.close()
    await provider?.close()
    rmSync(dir, { recursive: true, force: true })
  })

  test('the customers got their answers, whatever was recorded', () => {
    const failed = jobs.filter((_, i) => statuses[i] !== 200)
    expect(failed.map(({ incident }) => incident)).toEqual(
      incidents.map(({ incident }) => incident).filter((incident) => incident === 'error' || incident === 'timeout'),
    )
  })

  test('all twelve are kept, for the reason they are incidents', () => {
    expect(incidents.length).toBe(12)
    for (const job of incidents) {
      const tape = tapes.get(idOf(job))
      expect(tape?.close?.kept, idOf(job)).toContainEqual(expect.objectContaining({ because: job.incident }))
      const isBad = job.incident === 'error' || job.incident === 'timeout'
      expect(tape?.close?.retention?.class).toBe(isBad ? 'incident' : 'flagged')
      expect(decodeValue(tape?.header.input ?? null)).toEqual(job.ticket)
    }
  })

  test('of the others chance keeps a twentieth, within its exact binomial bounds', () => {
    const kept = ordinary.filter((job) => tapes.has(idOf(job)))
    const [least, most] = binomialBounds(ordinary.length, 0.05, 1e-4)
    expect(kept.length).toBeGreaterThanOrEqual(least)
    expect(kept.length).toBeLessThanOrEqual(most)
    expect(kept.map(idOf)).toEqual(ordinary.map(idOf).filter((id) => isSampled(id, 0.05)))
    for (const job of kept) {
      const close = tapes.get(idOf(job))?.close
      expect(close?.kept).toEqual([{ because: 'sample' }])
      expect(close?.retention?.class).toBe('clean')
    }
  })

  test('nothing else is left: no tape of a dropped run, none cut short', () => {
    expect(tapes.size).toBe(new Set([...incidents, ...ordinary.filter((job) => isSampled(idOf(job), 0.05))]).size)
    expect([...tapes.values()].filter(({ close }) => close === undefined || close.incomplete !== undefined)).toEqual([])
  })

  test('and the recorder tells as much', async () => {
    const stats = await service?.stats()
    expect(stats).toMatchObject({
      outsideRuns: 0,
      failures: 0,
      kept: tapes.size,
      dropped: 1000 - tapes.size,
      because: { error: 4, timeout: 2, flag: 2, tool: 2, tokens: 2 },
    })
  })
})
