// Builds dist/ from src/: beside the old one first, then swapped, so that a failing build leaves the old one standing.
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, renameSync, rmSync } from 'node:fs'

// Under `npm test` the first gate has built it; a second build would pull dist/ away from tests that run beside it.
if (process.env['HARVEST_TEST_BUILT'] === '1' && existsSync('dist')) process.exit()

interface Manifest {
  readonly bin: Readonly<Record<string, string>>
}

// As deep as dist/ itself: source maps name src/ by a relative path.
const next = `.dist-${process.pid}`
const old = `${next}-old`
process.on('exit', () => {
  for (const folder of [next, old]) rmSync(folder, { recursive: true, force: true })
})

const { status } = spawnSync('tsc', ['-p', 'tsconfig.build.json', '--outDir', next], { stdio: 'inherit' })
if (status !== 0) process.exit(1)

const { bin } = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest
for (const file of Object.values(bin)) chmodSync(`${next}/${file.replace('dist/', '')}`, 0o755)

if (existsSync('dist')) renameSync('dist', old)
renameSync(next, 'dist')
