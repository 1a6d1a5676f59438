// Packs what would be published and asks publint and attw about it. Needs a built dist/.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

interface Packed {
  readonly filename: string
  readonly files: readonly { readonly path: string }[]
}

const doors = Object.keys((JSON.parse(readFileSync('package.json', 'utf8')) as { exports: object }).exports)
const folder = mkdtempSync(join(tmpdir(), 'vitest-harvest-pack-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

const [packed] = JSON.parse(
  run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]),
) as Packed[]
if (packed === undefined) throw new Error('npm pack packed nothing')
const tarball = join(folder, packed.filename)
const strays = packed.files.filter(
  ({ path }) => !/^(dist\/|case\.schema\.json$|package\.json$|README\.md$|LICENSE$)/.test(path),
)
if (strays.length > 0) fail(`the tarball holds what nobody asked for: ${strays.map(({ path }) => path).join(', ')}`)

process.stdout.write(run('publint', ['run', tarball, '--strict']))
const report = run('attw', [tarball, '--profile', 'esm-only', '--no-color', '--no-emoji'])
process.stdout.write(report)
// attw says "no problems" of a package without doors, too.
const unseen = doors.filter((door) => !report.includes(`"vitest-harvest${door.slice(1)}"`))
if (unseen.length > 0) fail(`attw did not look at ${unseen.join(', ')}`)
console.log(`looked at ${packed.files.length} files and ${doors.length} doors`)

function run(command: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  if (status !== 0) fail(`${command} ${args.join(' ')}\n${stdout}\n${stderr}${error?.message ?? ''}`)
  return stdout
}

function fail(message: string): never {
  console.error(message)
  process.exit(1)
}
