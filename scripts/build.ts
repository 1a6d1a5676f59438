// Builds dist/ from src/: beside the old one first, then swapped, so that a failing build leaves the old one standing.
//
// What users install is small: code without comments, blanks or source maps, and declarations, with comments,
// of what the entry points reach and of nothing else.
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, globSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { minifySync } from 'vite'
import { buildShell } from './build-shell.ts'

// Under `npm test` the first gate has built it; a second build would pull dist/ away from tests that run beside it.
if (process.env['HARVEST_TEST_BUILT'] === '1' && existsSync('dist')) process.exit()

interface Manifest {
  readonly exports: Readonly<Record<string, string>>
  readonly bin: Readonly<Record<string, string>>
}

const next = `.dist-${process.pid}`
const old = `${next}-old`
process.on('exit', () => {
  for (const folder of [next, old]) rmSync(folder, { recursive: true, force: true })
})

const compiled = await Promise.all([
  compile('--declaration', 'false', '--removeComments'),
  compile('--declaration', '--emitDeclarationOnly'),
  buildShell(`${next}/report/shell.json`).then(() => true),
])
if (!compiled.every((ok) => ok)) process.exit(1)

const { bin, exports } = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest
const doors = Object.values(exports).filter((file) => file.endsWith('.js'))
const reached = declarationsReached(doors.map((file) => file.replace('./dist', next).replace(/\.js$/, '.d.ts')))
if (reached.size < doors.length) throw new Error('the entry points reach no declarations')
for (const file of globSync(`${next}/**/*.d.ts`)) {
  if (!reached.has(resolve(file))) rmSync(file)
  // Nobody reads them but compilers and editors, and these do not look at indentation.
  else
    writeFileSync(
      file,
      readFileSync(file, 'utf8').replaceAll(/^ +(?=\S)/gm, (blank) => (blank.length % 4 === 1 ? ' ' : '')),
    )
}
minify()

for (const file of Object.values(bin)) chmodSync(`${next}/${file.replace('dist/', '')}`, 0o755)

if (existsSync('dist')) renameSync('dist', old)
renameSync(next, 'dist')

function compile(...options: readonly string[]): Promise<boolean> {
  const args = ['-p', 'tsconfig.build.json', '--outDir', next, ...options]
  return new Promise((settle, reject) => {
    const child = spawn('tsc', args, { stdio: 'inherit' })
    child.once('error', reject)
    child.once('close', (code) => settle(code === 0))
  })
}

/** The files, as absolute paths, that a user's compiler opens when it imports these. */
function declarationsReached(entries: readonly string[]): Set<string> {
  const args = ['--ignoreConfig', '--listFilesOnly', '--module', 'nodenext', '--types', 'node', ...entries]
  const { status, stdout } = spawnSync('tsc', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
  if (status !== 0) throw new Error(`tsc does not list the declarations:\n${stdout}`)
  return new Set(stdout.split('\n').map((file) => resolve(file)))
}

/**
 * Blanks go, and what is local gets a short name. Names that modules share, and those of functions and classes, stay: a stack
 * still says where it was.
 */
function minify(): void {
  for (const file of globSync(`${next}/**/*.js`)) {
    const { code, errors } = minifySync(file, readFileSync(file, 'utf8'), {
      module: true,
      compress: false,
      mangle: { toplevel: false, keepNames: true },
      codegen: { removeWhitespace: true },
    })
    if (errors.length > 0)
      throw new Error(`${file} cannot be minified: ${errors.map(({ message }) => message).join(', ')}`)
    writeFileSync(file, code)
  }
}
