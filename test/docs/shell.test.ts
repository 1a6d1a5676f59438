import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { parse as parseCommand } from '../../src/cli/parse.ts'
import { specs } from '../../src/cli/spec/index.ts'
import { version } from '../../src/version.ts'

const read = (file: string): string => readFileSync(file, 'utf8')
const manifest = JSON.parse(read('package.json')) as { version: string; scripts: Readonly<Record<string, string>> }

interface Workflow {
  readonly on: unknown
  readonly permissions: unknown
  readonly jobs: Readonly<
    Record<string, { readonly steps: readonly Step[]; readonly strategy?: { readonly matrix: Matrix } }>
  >
}
interface Step {
  readonly run?: string
  readonly uses?: string
  readonly with?: Readonly<Record<string, unknown>>
}
type Matrix = Readonly<Record<string, readonly unknown[]>>
interface Form {
  readonly name: string
  readonly description: string
  readonly body: readonly {
    readonly type: string
    readonly id?: string
    readonly attributes: Readonly<Record<string, unknown>>
  }[]
}

const workflows = globSync('.github/workflows/*.yml').sort()
const forms = globSync('.github/ISSUE_TEMPLATE/*.yml').filter((file) => !file.endsWith('config.yml'))

/** Every command of a workflow, once for each value of its matrix. */
function commandsOf({ jobs }: Workflow): string[] {
  return Object.values(jobs).flatMap(({ steps, strategy }) =>
    steps.flatMap(({ run, with: given = {} }) =>
      [run, given['version'], given['publish']]
        .filter((command) => typeof command === 'string')
        .flatMap((command) => withMatrix(command, strategy?.matrix ?? {})),
    ),
  )
}

function withMatrix(command: string, matrix: Matrix): string[] {
  const name = /\$\{\{ matrix\.(\w+) \}\}/.exec(command)?.[1]
  if (name === undefined) return [command]
  return (matrix[name] ?? []).flatMap((value) =>
    withMatrix(command.replaceAll(`\${{ matrix.${name} }}`, String(value)), matrix),
  )
}

/** What a text runs of this repository, and is not there. */
function missing(text: string): string[] {
  const scripts = [...text.matchAll(/\bnpm run (?:-s |--silent )?([\w:-]+)/g)].map(([, name = '']) => name)
  const files = [...text.matchAll(/(?:^|[\s`])((?:\.ci|scripts|bench)\/[\w./-]+\w)/g)].map(([, file = '']) => file)
  return [
    ...scripts.filter((name) => manifest.scripts[name] === undefined),
    ...files.filter((file) => !existsSync(file)),
  ]
}

describe('the workflows', () => {
  test('there is one for changes, one for releases and one for the night', () => {
    expect(workflows.map((file) => file.split('/').pop())).toEqual(['ci.yml', 'nightly.yml', 'release.yml'])
  })

  test.for(workflows)('%s runs scripts that exist, with rights it names, and pinned actions', (file) => {
    const workflow = parse(read(file)) as Workflow
    const commands = commandsOf(workflow)
    expect(commands.length).toBeGreaterThan(2)
    expect(commands.flatMap(missing)).toEqual([])
    expect(commands.filter((command) => command.includes('${{'))).toEqual([])
    expect(workflow.permissions).toBeDefined()
    const uses = Object.values(workflow.jobs).flatMap(({ steps }) => steps.flatMap(({ uses: action }) => action ?? []))
    expect(uses.filter((action) => !/@(?:[0-9a-f]{40}|v\d+\.\d+\.\d+)$/.test(action))).toEqual([])
  })

  test('a command with a script that is gone is found, behind a matrix too', () => {
    const jobs = {
      a: { steps: [{ run: 'npm run ${{ matrix.what }}' }], strategy: { matrix: { what: ['build', 'gone'] } } },
    }
    expect(commandsOf({ on: {}, permissions: {}, jobs }).flatMap(missing)).toEqual(['gone'])
    expect(missing('.ci/gone')).toEqual(['.ci/gone'])
  })
})

describe('the forms for issues', () => {
  test.for(forms)('%s can be read by GitHub: fields with a name and a label, names once', (file) => {
    const { name, description, body } = parse(read(file)) as Form
    expect([name, description].every((text) => text.length >= 3)).toBe(true)
    const fields = body.filter(({ type }) => type !== 'markdown')
    expect(fields.length).toBeGreaterThan(2)
    expect(fields.every(({ type }) => ['input', 'textarea', 'dropdown'].includes(type))).toBe(true)
    expect(fields.every(({ id, attributes }) => id !== undefined && typeof attributes['label'] === 'string')).toBe(true)
    expect(new Set(fields.map(({ id }) => id)).size).toBe(fields.length)
  })

  test('the one for a wrong replay asks for the structure of a run, never for a tape', () => {
    const text = read('.github/ISSUE_TEMPLATE/wrong-replay.yml')
    expect(text).toContain('npx vitest-harvest export <tape> --format json --no-content')
    expect(text).toContain('Do not attach a tape')
  })
})

describe('the pages of the project', () => {
  test('every command of ours that they name is one, with the options it has', () => {
    const texts = ['CONTRIBUTING.md', 'SECURITY.md', ...globSync('.github/**/*.{yml,md}')].map(read)
    const named = texts.flatMap((text) =>
      [...text.matchAll(/`npx vitest-harvest ([^`]+)`/g)].map(([, words = '']) => words),
    )
    expect(named.length).toBeGreaterThan(3)
    for (const words of named) expect(() => parseCommand(words.split(' '), specs), words).not.toThrow()
    expect(() => parseCommand(['show', 'a', '--nothing'], specs)).toThrow('--nothing')
  })

  test.for(['CONTRIBUTING.md', '.github/PULL_REQUEST_TEMPLATE.md', 'SECURITY.md', '.changeset/README.md'])(
    '%s names scripts and files that exist',
    (file) => {
      const text = read(file)
      expect(missing(text)).toEqual([])
      const paths = [...text.matchAll(/`((?:src|test|fixtures|docs|decisions|api)\/[\w./-]*\w)`/g)].map(
        ([, path = '']) => path,
      )
      expect(paths.filter((path) => !existsSync(path))).toEqual([])
    },
  )

  test('the version is one, and the changelog begins with it', () => {
    const lock = JSON.parse(read('package-lock.json')) as { version: string; packages: { '': { version: string } } }
    expect([version, lock.version, lock.packages[''].version]).toEqual(Array(3).fill(manifest.version))
    expect(/^## (\S+)$/m.exec(read('CHANGELOG.md'))?.[1]).toBe(manifest.version)
  })

  test('changesets see the one package that is published', () => {
    const script =
      "import { getPackages } from '@manypkg/get-packages'; console.log(JSON.stringify(await getPackages()))"
    const flags = ['--import', './scripts/one-package.ts', '--input-type=module', '--eval', script]
    const { packages } = JSON.parse(execFileSync(process.execPath, flags, { encoding: 'utf8' })) as {
      readonly packages: readonly { readonly packageJson: { readonly name: string } }[]
    }
    expect(packages.map(({ packageJson }) => packageJson.name)).toEqual(['vitest-harvest'])
    for (const name of ['change', 'release', 'release:version'])
      expect(manifest.scripts[name]).toContain('node --import ./scripts/one-package.ts ')
  })

  test('every changeset names this package and what kind of change it is', () => {
    const sets = globSync('.changeset/*.md').filter((file) => !file.endsWith('README.md'))
    for (const file of sets)
      expect(read(file), file).toMatch(/^---\n'vitest-harvest': (?:patch|minor|major)\n---\n\n\S/)
  })
})
