// Imported first: from here on `built()` finds the package as it is installed from its tarball. `npm test` installs it once.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { installPacked } from '../../scripts/install-packed.ts'
import { built } from './built.ts'

const { HARVEST_TEST_INSTALLED: shared } = process.env
if (shared === undefined) {
  built('cli/main.js')
  const folder = mkdtempSync(join(tmpdir(), 'harvest-packed-'))
  process.env['HARVEST_TEST_PACKED'] = installPacked(folder)
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
} else process.env['HARVEST_TEST_PACKED'] = shared
