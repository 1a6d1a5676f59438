import { globSync } from 'node:fs'
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  installPackage,
  isTest,
  readerEnvironment,
  startShopProvider,
  withoutKey,
  withoutNpm,
  withoutProvider,
} from '../../scripts/project.ts'
import { copyProject } from '../../scripts/link-tree.ts'
import { blocksOf, walk } from '../../scripts/walkthrough.ts'
import { built } from '../support/built.ts'
import { warmLine } from '../support/warm-line.ts'

const repository = resolve(import.meta.dirname, '../..')
const pages = globSync('docs/*.md', { cwd: repository }).sort()
/** Pages that start many programs, or ask a model many times. */
const thorough = [
  ...[
    'adopting',
    'blame',
    'boundary',
    'cases',
    'chaos',
    'cli',
    'databases',
    'debug',
    'doctor',
    'fix',
    'fork',
    'import',
    'inbox',
    'incident',
    'model-upgrade',
  ],
  ...[
    'production',
    'promoting',
    'prompt-change',
    'proving',
    'reading',
    'recording',
    'replaying',
    'rerun',
    'review',
    'troubleshooting',
    'validate-own-agent',
    'vitest',
    'weekly-care',
  ],
].map((name) => `docs/${name}.md`)

describe('every code block of the documents runs, and prints what the page says', () => {
  let base = ''
  let provider: Awaited<ReturnType<typeof startShopProvider>> | undefined

  beforeAll(async () => {
    built('index.js')
    // Inside the repository: its node_modules are found from there.
    base = await mkdtemp(join(repository, '.docs-'))
    provider = await startShopProvider()
    const project = join(base, 'readme')
    await cp(join(repository, 'package.json'), join(project, 'package.json'))
    await installPackage(project)
  })
  afterAll(async () => {
    await provider?.close()
    await rm(base, { recursive: true, force: true })
  })

  /** Follows a page; what it calls a test asks the provider nothing. */
  async function follow(page: string, project: string): Promise<number> {
    const programs = {
      vitest: join(repository, 'node_modules/vitest/vitest.mjs'),
      'vitest-harvest': join(project, 'node_modules/vitest-harvest/dist/bin.js'),
    }
    const env = readerEnvironment(project, provider?.url ?? '')
    // The cassette of that page was recorded at the real provider.
    const testing = page === 'docs/import.md' ? withoutProvider : withoutKey
    const asked: (readonly [command: string, before: number])[] = []
    const blocks = await walk(join(repository, page), {
      dir: project,
      env,
      environmentOf: (command) => (isTest(command) ? testing(env) : undefined),
      rewrite: withoutNpm,
      // test/docs/tarball.test.ts starts each line of the README by itself.
      start: (command, environment) => warmLine(command, { dir: project, env: environment, programs }),
      onCommand: (command) => asked.push([command, provider?.asked() ?? 0]),
    })
    // That page measures blame on a live model, in a test.
    if (page === 'docs/validate-own-agent.md') return blocks
    const ends = [...asked.slice(1).map(([, before]) => before), provider?.asked() ?? 0]
    expect(asked.filter(([command, before], at) => isTest(command) && ends[at] !== before)).toEqual([])
    return blocks
  }

  test('README.md, from an empty project to a red test and back', async () => {
    expect(await follow('README.md', join(base, 'readme'))).toBeGreaterThan(10)
  })

  test('there are pages', () => {
    expect(pages.length).toBeGreaterThan(5)
  })

  test('the pages that are followed in the thorough tests are there', () => {
    expect(thorough.filter((page) => !pages.includes(page))).toEqual([])
  })

  test.for(pages.filter((page) => !thorough.includes(page)))('%s, in the project the README leaves', inProject)
  test.for(thorough)('%s, in the project the README leaves', { tags: 'thorough' }, inProject)

  async function inProject(page: string): Promise<void> {
    // All at one place: Node finds again there what it compiled for the page before.
    const project = join(base, 'project')
    await rm(project, { recursive: true, force: true })
    copyProject(join(base, 'readme'), project)
    expect(await follow(page, project)).toBe(blocksOf(await readFile(join(repository, page), 'utf8')).length)
  }
})
