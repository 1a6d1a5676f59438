import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const folder = resolve(import.meta.dirname, '../peers')

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>
}

/** Installs the peers of one `bench/peers/<name>/package.json` beside it, unless they are there in these versions. */
export function installPeers(name: string): string {
  const dir = join(folder, name)
  const wanted = readFileSync(join(dir, 'package.json'), 'utf8')
  const stamp = join(dir, 'node_modules/.installed')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return dir
  rmSync(join(dir, 'node_modules'), { recursive: true, force: true })
  const { status, stderr } = spawnSync(
    'npm',
    ['install', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund', '--legacy-peer-deps'],
    { cwd: dir, encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(`the peers in bench/peers/${name} do not install:\n${stderr}`)
  writeFileSync(`${stamp}.new`, wanted)
  renameSync(`${stamp}.new`, stamp)
  return dir
}

/** The versions that stand in the folder of one peer. */
export function peerVersions(name: string): Record<string, string> {
  const dir = join(folder, name)
  const { dependencies } = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8')) as Manifest
  const versions: Record<string, string> = {}
  for (const each of Object.keys(dependencies)) {
    const installed = join(dir, 'node_modules', each, 'package.json')
    versions[each] = (JSON.parse(readFileSync(installed, 'utf8')) as { version: string }).version
  }
  return versions
}
