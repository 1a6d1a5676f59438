// Packs what would be published and looks at it as those who install it would: what it holds and weighs, what is
// installed with it, where its pages link, whether its types compile; and asks publint and attw. Needs a built dist/.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { installedWith, type LockFile, maxInstalled, maxTarball, relativeLinks } from './package/rules.ts'
import { compileAsUser } from './package/types.ts'

interface Packed {
  readonly filename: string
  /** Bytes of the tarball. */
  readonly size: number
  readonly files: readonly { readonly path: string }[]
}

const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as { exports: object }
const doors = Object.keys(exports)
const folder = mkdtempSync(join(tmpdir(), 'vitest-harvest-pack-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

const [packed] = JSON.parse(
  run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]),
) as Packed[]
if (packed === undefined) throw new Error('npm pack packed nothing')
const tarball = join(folder, packed.filename)
const files = packed.files.map(({ path }) => path)
const wanted =
  /^(dist\/.+\.(js|d\.ts)|dist\/report\/shell\.json|dist\/licenses\.txt|case\.schema\.json|package\.json|README\.md|CHANGELOG\.md|LICENSE)$/
refuse(
  'the tarball holds what nobody asked for',
  files.filter((path) => !wanted.test(path)),
)
if (!files.includes('dist/licenses.txt')) fail('the licenses of what is built in do not come along')
if (packed.size > maxTarball) fail(`the tarball has ${packed.size} bytes, more than ${maxTarball}`)

refuse('the README has links that are dead on npm', relativeLinks(readFileSync('README.md', 'utf8')))

const beside = installedWith(JSON.parse(readFileSync('package-lock.json', 'utf8')) as LockFile)
if (beside.length > maxInstalled) fail(`${beside.length} packages would be installed: ${beside.join(', ')}`)

process.stdout.write(run('publint', ['run', tarball, '--strict']))
const report = run('attw', [tarball, '--profile', 'esm-only', '--no-color', '--no-emoji'])
process.stdout.write(report)
// attw says "no problems" of a package without doors, too.
refuse(
  'attw did not look at',
  doors.filter((door) => !report.includes(`"vitest-harvest${door.slice(1)}"`)),
)
const compiled = compileAsUser(
  tarball,
  doors.filter((door) => !door.endsWith('.json')),
  run,
)
console.log(`types compile with ${compiled.join(', ')}`)
console.log(`${packed.size} bytes packed, ${beside.length} packages installed beside Vitest`)
console.log(`looked at ${files.length} files and ${doors.length} doors`)

function run(command: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  if (status !== 0) fail(`${command} ${args.join(' ')}\n${stdout}\n${stderr}${error?.message ?? ''}`)
  return stdout
}

function refuse(what: string, found: readonly string[]): void {
  if (found.length > 0) fail(`${what}: ${found.join(', ')}`)
}

/** Throws, so that folders in use are removed on the way out. */
function fail(message: string): never {
  throw new Error(message)
}
