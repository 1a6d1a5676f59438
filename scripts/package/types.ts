// Compiles a project that imports every entry point, with declarations checked, as users' compilers would.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** Runs a program and answers what it printed; throws when its exit code is another than 0. */
type Run = (command: string, args: readonly string[]) => string

const compilers = { 5: 'lanes/typescript-5/node_modules/typescript', 7: 'node_modules/typescript' }
const resolutions = {
  bundler: { module: 'preserve', moduleResolution: 'bundler' },
  nodenext: { module: 'nodenext', moduleResolution: 'nodenext' },
}

/**
 * Compiles with each TypeScript under each module resolution.
 *
 * @returns what was tried, such as `TypeScript 5.9.3 bundler`
 */
export function compileAsUser(tarball: string, doors: readonly string[], run: Run): string[] {
  // In the repository, so that what the declarations import is found in the folder above.
  const project = mkdtempSync('.dist-user-')
  try {
    const own = join(project, 'node_modules/vitest-harvest')
    mkdirSync(own, { recursive: true })
    run('tar', ['-xzf', tarball, '-C', own, '--strip-components=1'])
    writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }\n')
    writeFileSync(join(project, 'use.ts'), `${doors.map(use).join('\n')}\n`)
    const tried: string[] = []
    for (const compiler of Object.values(compilers)) {
      const { version } = JSON.parse(readFileSync(join(compiler, 'package.json'), 'utf8')) as { version: string }
      for (const [name, resolution] of Object.entries(resolutions)) {
        const config = join(project, `tsconfig.${name}.json`)
        writeFileSync(config, JSON.stringify({ compilerOptions: { ...options, ...resolution }, files: ['use.ts'] }))
        const listed = run(process.execPath, [join(compiler, 'bin/tsc'), '-p', config, '--listFiles'])
        const opened = listed.split('\n').filter((file) => file.startsWith(resolve(own)))
        if (opened.length < doors.length) throw new Error(`${compiler} looked at ${opened.length} declarations`)
        tried.push(`TypeScript ${version} ${name}`)
      }
    }
    return tried
  } finally {
    rmSync(project, { recursive: true, force: true })
  }
}

const options = { target: 'es2022', strict: true, noEmit: true, skipLibCheck: false, types: ['node'] }

function use(door: string, index: number): string {
  const from = `'vitest-harvest${door.slice(1)}'`
  return `import * as door${index} from ${from}\nexport type Door${index} = typeof door${index}`
}
