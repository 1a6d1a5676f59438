import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { runInChild } from '../../fixtures/child/index.ts'
import { agents } from './both-ways/agents.ts'
import { httpAgents } from './both-ways/http-agents.ts'
import type { Recorded } from './both-ways/record.child.ts'
import type { Replayed, ReplayJob } from './both-ways/replay.child.ts'

const child = (name: string): URL => new URL(`./both-ways/${name}.child.ts`, import.meta.url)
/** Cookies are redacted, a tape has names in small letters, what is given up at once was not asked, and what was recorded whole is given up. */
const unlikeLive =
  /a response shows|an empty answer show |that aborts in|right after the call|given up|left in the middle|is cancelled|come together/
const names = Object.keys({ ...agents, ...httpAgents })

describe('an expected request, answered above the client and through it', () => {
  let recorded: Recorded
  let above: Readonly<Record<string, Replayed>>
  let through: Readonly<Record<string, Replayed>>

  beforeAll(async () => {
    const dir = await mkdtemp(join(tmpdir(), 'harvest-both-ways-'))
    try {
      recorded = await runInChild(child('record'), dir)
      const ids = Object.fromEntries(names.map((name, i) => [name, `run-${i}`]))
      const job: ReplayJob = { dir, base: recorded.base, ids }
      ;[above, through] = await Promise.all([
        runInChild<ReplayJob, typeof above>(child('replay'), job),
        runInChild<ReplayJob, typeof above>(child('replay'), job, { env: { VITEST_HARVEST_FETCH: 'undici' } }),
      ])
    } finally {
      await rm(dir, { recursive: true, force: true })
    }
  })

  test.for(names)('%s', (name) => {
    const { isAbove, ...one } = above[name]!
    const { isAbove: isAlso, ...other } = through[name]!
    // Through the interceptor the head of an answer waits for its body.
    if (!name.includes('in one turn')) expect(one).toEqual(other)
    expect([isAbove, isAlso]).toEqual([true, false])
    if (unlikeLive.test(name)) return
    expect([one.problems, one.drift]).toEqual([[], 0])
    expect(one.result).toEqual(recorded.results[name])
  })
})
