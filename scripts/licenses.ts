// The notices of the packages that are part of what users install: their licenses ask that they come along.
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Writes the licenses of the packages these modules are of, each once. */
export function writeLicenses(file: string, modules: Iterable<string>): void {
  const folders = new Set([...modules].flatMap((module) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(module) ?? []))
  const notices = [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
    const [found] = globSync('LICEN[SC]E*', { cwd: folder })
    if (found === undefined) throw new Error(`${name} has no license`)
    return `${name} ${version} (${license})\n\n${readFileSync(join(folder, found), 'utf8').trim()}\n`
  })
  if (notices.length === 0) throw new Error('no package is part of what was built')
  writeFileSync(file, notices.join(`\n${'-'.repeat(80)}\n\n`))
}

interface Manifest {
  readonly name: string
  readonly version: string
  readonly license: string
}
