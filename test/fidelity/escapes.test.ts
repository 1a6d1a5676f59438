import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { runInChild } from '../../fixtures/child/index.ts'
import { createRecorder } from '../../src/record/index.ts'
import { attempts } from './escapes/attempts.ts'
import type { AttemptReport } from './escapes/replay.child.ts'

/** HTTP is served by the seam: a call nobody recorded is refused as that, before it could become an escape. */
const overHttp = new Set([
  'fetch to a new origin',
  'fetch on a pooled connection',
  'http.get on a pooled connection',
  'undici.request to a new origin',
  'a request through an undici pool opened before',
  'http.request bound early',
  'http2.connect',
  'a request on an http2 session opened before',
  'a WebSocket',
])

describe('a replay reaches nothing around the seam', () => {
  let reports: readonly AttemptReport[] = []
  let source: readonly string[] = []

  beforeAll(async () => {
    const dir = await mkdtemp(join(tmpdir(), 'harvest-escapes-'))
    try {
      const recorder = createRecorder({ dir })
      recorder.run({ agent: 'idle', id: 'idle' }, () => 'idle')
      const job = { dir, tape: recorder.lastTape ?? '' }
      reports = await runInChild(new URL('./escapes/replay.child.ts', import.meta.url), job)
      source = (await readFile(new URL('./escapes/attempts.ts', import.meta.url), 'utf8')).split('\n')
    } finally {
      await rm(dir, { recursive: true, force: true })
    }
  })

  test.for(Object.keys(attempts))('%s is refused, with the line that tried', (name) => {
    const report = reports.find((one) => one.name === name)!
    expect(report.arrived).toEqual([])
    expect(report.problems).not.toEqual([])
    const [problem] = report.problems
    if (!overHttp.has(name)) {
      expect(problem?.code).toBe('HARVEST_ESCAPE')
      expect(report.escapes).toContainEqual(expect.objectContaining({ allowed: false }))
    }
    // The attempt's own place in attempts.ts, whatever library was in between.
    const [, line] = /attempts\.ts:(\d+)/.exec(problem?.message ?? '') ?? []
    expect(attemptAt(source, Number(line)), problem?.message).toBe(name)
  })
})

/** Name of the attempt a line of attempts.ts belongs to: the nearest key above it. */
function attemptAt(source: readonly string[], line: number): string | undefined {
  const keys = source.slice(0, line).map((text) => /^ {2}(?:'([^']+)'|(\w+)): (?:async )?\(/.exec(text))
  const key = keys.findLast((match) => match !== null)
  return key?.[1] ?? key?.[2]
}
