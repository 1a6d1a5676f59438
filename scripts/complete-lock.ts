// Writes the optional packages of other platforms into package-lock.json, by version and without an address.
//
// A registry mirror that holds only this platform's binaries makes npm leave the others out of the lock, and `npm ci`
// then refuses the lock on every machine ("Missing: @biomejs/cli-darwin-arm64@ from lock file"). Run it after every
// `npm install`; it is idempotent, and test/repository.test.ts fails when it was forgotten.
import { readFileSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

interface LockEntry {
  version?: string
  resolved?: string
  link?: boolean
  dev?: boolean
  optional?: boolean
  os?: string[]
  cpu?: string[]
  libc?: string[]
  optionalDependencies?: Record<string, string>
}
export interface Lock {
  packages: Record<string, LockEntry>
}

/** Adds what is missing and removes registry addresses; answers the names it added. */
export function completeLock(lock: Lock): string[] {
  const added: string[] = []
  for (const [path, entry] of Object.entries(lock.packages)) {
    if (entry.resolved !== undefined && entry.link !== true) delete entry.resolved
    for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
      if (isResolvable(lock, path, name)) continue
      // Only exact versions: what a range means is for npm to say, with a registry that has the package.
      if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
        throw new Error(`${path} wants ${name}@${version}: not an exact version`)
      lock.packages[`${path}/node_modules/${name}`] = {
        version,
        ...(entry.dev === true ? { dev: true } : {}),
        optional: true,
        ...platformOf(name),
      }
      added.push(name)
    }
  }
  lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)))
  return added
}

function isResolvable(lock: Lock, from: string, name: string): boolean {
  const folders = from.split('/node_modules/')
  const up = folders.map((_, depth) => folders.slice(0, folders.length - depth).join('/node_modules/'))
  return [...up, ''].some((folder) => `${folder === '' ? '' : `${folder}/`}node_modules/${name}` in lock.packages)
}

/** npm skips an entry whose platform is not this one; the names of binaries spell theirs. */
function platformOf(name: string): Pick<LockEntry, 'os' | 'cpu' | 'libc'> {
  const words = new Set(name.split(/[-/@.]/))
  const pick = (known: readonly string[]) => known.filter((word) => words.has(word))
  const os = pick([
    'aix',
    'android',
    'darwin',
    'freebsd',
    'linux',
    'netbsd',
    'openbsd',
    'openharmony',
    'sunos',
    'win32',
  ])
  const cpu = pick(['arm', 'arm64', 'ia32', 'loong64', 'mips64el', 'ppc64', 'riscv64', 's390x', 'wasm32', 'x64'])
  const libc = [
    ...(words.has('musl') || words.has('musleabihf') ? ['musl'] : []),
    ...(words.has('gnu') || words.has('gnueabihf') ? ['glibc'] : []),
  ]
  return { ...(os.length > 0 ? { os } : {}), ...(cpu.length > 0 ? { cpu } : {}), ...(libc.length > 0 ? { libc } : {}) }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as Lock
  const added = completeLock(lock)
  writeFileSync('package-lock.json', `${JSON.stringify(lock, undefined, 2)}\n`)
  console.log(`package-lock.json: ${added.length} package(s) of other platforms added`)
}
