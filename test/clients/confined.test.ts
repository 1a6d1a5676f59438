import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runInChild } from '../../fixtures/child/index.ts'
import { createRecorder } from '../../src/record/index.ts'
import { confinedFlags } from '../../src/seam/intercept/confine.ts'
import type { DatabaseReport } from './databases.child.ts'

test('a database in memory works, of SQLite and of Postgres, where Node confines the process', {
  tags: 'thorough',
}, async () => {
  const dir = mkdtempSync(join(tmpdir(), 'harvest-confined-'))
  try {
    const recorder = createRecorder({ dir })
    recorder.run({ agent: 'idle', id: 'idle' }, () => undefined)
    const child = new URL('./databases.child.ts', import.meta.url)
    const job = { tape: recorder.lastTape ?? '' }
    const reports: readonly DatabaseReport[] = await runInChild(child, job, { flags: confinedFlags('strict') })
    expect(reports).toEqual(['node:sqlite', 'PGlite'].map((name) => ({ name, value: 42, problems: [], listed: 0 })))
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
})
