import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { startModel } from './model.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

test('deciding at the end costs no more memory than may be held: 40 MiB of bodies pass and the heap stays where it was', {
  tags: 'thorough',
}, async () => {
  const model = await startModel()
  const child = fileURLToPath(new URL('./flat.child.ts', import.meta.url))
  const dir = temporaryFolder('flat')
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', child, model.base, dir])
  await model.close()
  const grown = JSON.parse(stdout) as { readonly inside: number; readonly after: number; readonly dropped: number }
  expect(grown.dropped).toBe(102)
  // 24 MiB of bodies within one run, 12 MiB over a hundred: beyond the 2 MiB that may be held, they would be seen here.
  expect(grown.inside).toBeLessThan(4)
  expect(grown.after).toBeLessThan(4)
})
