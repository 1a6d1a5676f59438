import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { installPackage } from '../../scripts/project.ts'
import { editConfig } from '../../src/cli/init/edit-config.ts'
import { exportsOf } from '../../src/cli/init/find-agents.ts'
import { planWorkflows } from '../../src/cli/init/workflow.ts'
import { tokensOf } from '../../src/cli/init/tokens.ts'
import { golden, refundBaseline, refundSources } from '../host/refund.ts'
import { scratch, warmHarvest as harvest, warmRun as run } from './harvest.ts'

const repository = resolve(import.meta.dirname, '../..')
const call = "harvest({ agents: { refund: './src/refund.ts#refundAgent' } })"

interface Shape {
  readonly file: string
  readonly before: string
  /** Lines that come, in order; everything else stays. */
  readonly added: readonly string[]
}

/** Configs as people write them. */
const shapes: Readonly<Record<string, Shape>> = {
  'an object in defineConfig': {
    file: 'vitest.config.ts',
    before:
      "import { defineConfig } from 'vitest/config'\n\nexport default defineConfig({\n  // our tests\n  test: { globals: true }, // all of them\n})\n",
    added: ["import { harvest } from 'vitest-harvest/plugin'", `  plugins: [${call}],`],
  },
  'an object on one line': {
    file: 'vitest.config.mjs',
    before: "export default { test: { include: ['*.test.js'], passWithNoTests: true } }\n",
    added: [
      "import { harvest } from 'vitest-harvest/plugin'",
      `export default { plugins: [${call}], test: { include: ['*.test.js'], passWithNoTests: true } }`,
    ],
  },
  'nothing in it': {
    file: 'vitest.config.mts',
    before: 'import { defineConfig } from "vitest/config";\nexport default defineConfig({});\n',
    added: ['import { harvest } from "vitest-harvest/plugin";', `export default defineConfig({ plugins: [${call}] });`],
  },
  'plugins, one to a line, tabs and semicolons': {
    file: 'vitest.config.ts',
    before:
      "import { defineConfig } from 'vitest/config';\nimport {\n\tone,\n\ttwo,\n} from './plugins.ts';\n\nexport default defineConfig({\n\tplugins: [\n\t\tone({ re: /[\\]}]/ }), // first\n\t\ttwo(),\n\t],\n});\n",
    added: ["import { harvest } from 'vitest-harvest/plugin';", `\t\t${call},`],
  },
  'plugins on one line': {
    file: 'vite.config.ts',
    before:
      "import { defineConfig } from 'vite'\nimport { one } from './plugins.ts'\nexport default defineConfig({ plugins: [one()], build: {} })\n",
    added: [
      "import { harvest } from 'vitest-harvest/plugin'",
      `export default defineConfig({ plugins: [${call}, one()], build: {} })`,
    ],
  },
  'an empty list of plugins': {
    file: 'vitest.config.js',
    before: "import { defineConfig } from 'vitest/config'\nexport default defineConfig({\n  plugins: [],\n})\n",
    added: ["import { harvest } from 'vitest-harvest/plugin'", `  plugins: [${call}],`],
  },
  'a function that answers an object': {
    file: 'vitest.config.ts',
    before:
      "import { defineConfig } from 'vitest/config'\nexport default defineConfig(({ mode }) => ({\n  define: { MODE: `\"${mode === 'x' ? `{${mode}}` : '}'}\"` },\n}))\n",
    added: ["import { harvest } from 'vitest-harvest/plugin'", `  plugins: [${call}],`],
  },
  'an async function with a body': {
    file: 'vitest.config.ts',
    before:
      "import { defineConfig } from 'vitest/config'\nexport default defineConfig(async ({ mode }) => {\n  const env = await Promise.resolve({ mode })\n  return {\n    test: { env: { MODE: env.mode } },\n  }\n})\n",
    added: ["import { harvest } from 'vitest-harvest/plugin'", `    plugins: [${call}],`],
  },
  mergeConfig: {
    file: 'vitest.config.ts',
    before:
      "import { defineConfig, mergeConfig } from 'vitest/config'\nimport base from './base.ts'\n\nexport default mergeConfig(\n  base,\n  defineConfig({\n    test: { globals: true },\n  }),\n)\n",
    added: ["import { harvest } from 'vitest-harvest/plugin'", `    plugins: [${call}],`],
  },
  projects: {
    file: 'vitest.config.ts',
    before:
      "import { defineConfig } from 'vitest/config'\nexport default defineConfig({\n  test: {\n    projects: [{ plugins: [], test: { name: 'unit', include: ['unit/*.test.ts'] } }],\n    passWithNoTests: true,\n  },\n})\n",
    added: ["import { harvest } from 'vitest-harvest/plugin'", `  plugins: [${call}],`],
  },
  'a constant with a type': {
    file: 'vitest.config.ts',
    before:
      "import type { ViteUserConfig } from 'vitest/config'\n\nconst config: ViteUserConfig = {\n    test: { name: 'x' },\n}\n\nexport default config\n",
    added: ["import { harvest } from 'vitest-harvest/plugin'", `    plugins: [${call}],`],
  },
  'satisfies, and Windows lines': {
    file: 'vitest.config.ts',
    before:
      "import type { ViteUserConfig } from 'vitest/config'\r\n\r\nexport default {\r\n  test: {},\r\n} satisfies ViteUserConfig\r\n",
    added: ["import { harvest } from 'vitest-harvest/plugin'\r", `  plugins: [${call}],\r`],
  },
  CommonJS: {
    file: 'vitest.config.cjs',
    before: "const { defineConfig } = require('vitest/config')\n\nmodule.exports = defineConfig({\n  test: {},\n})\n",
    added: ["const { harvest } = require('vitest-harvest/plugin')", `  plugins: [${call}],`],
  },
  'a function with a name': {
    file: 'vitest.config.ts',
    before:
      "import { defineConfig } from 'vitest/config'\nexport default defineConfig(function config() {\n  return { test: {} }\n})\n",
    added: ["import { harvest } from 'vitest-harvest/plugin'", `  return { plugins: [${call}], test: {} }`],
  },
}

const unclear: Readonly<Record<string, readonly [source: string, why: string]>> = {
  'a config from elsewhere': [
    "import config from './x'\nexport default config\n",
    'exports no config that is written out in it',
  ],
  'defineConfig of a name': [
    "import { defineConfig } from 'vitest/config'\nexport default defineConfig(config)\n",
    'takes its config from elsewhere',
  ],
  'plugins from elsewhere': ['export default { plugins: common }\n', 'has plugins that are no list written out in it'],
  'plugins in short': [
    'const plugins = []\nexport default { plugins }\n',
    'has plugins that are no list written out in it',
  ],
  'a config that is spread': [
    "import base from './x'\nexport default { ...base, test: {} }\n",
    'takes part of its config from elsewhere, maybe the plugins too',
  ],
  'two answers': [
    'export default () => {\n  if (process.env.CI) return { test: {} }\n  return {}\n}\n',
    'answers its config in more than one place',
  ],
  'two configs': [
    "import { defineConfig } from 'vitest/config'\nconst a = defineConfig({})\nexport default defineConfig({ ...a })\n",
    'calls defineConfig more than once',
  ],
  'a name that is taken': [
    "import { harvest } from './mine'\nexport default { plugins: [harvest()] }\n",
    'has a `harvest` of its own',
  ],
  'brackets that do not close': ['export default { test: {\n', 'has brackets or quotes that do not close'],
}

describe('the plugin is put into', () => {
  it.each(Object.entries(shapes))('%s, and nothing else is touched', (_, { before, added }) => {
    const quoted = before.includes('from "') ? call : call
    const edit = editConfig(before, quoted)
    expect(edit.kind).toBe('changed')
    const after = edit.kind === 'changed' ? edit.text : ''
    const [old, now] = [before.split('\n'), after.split('\n')]
    expect(now.filter((line) => !old.includes(line))).toEqual(added)
    // Taken out again, the file is what it was.
    const without = [`plugins: [${call}]`, call].reduce((text, piece) => text.replace(piece, ''), after)
    expect(without.replace(/^.*vitest-harvest\/plugin.*\r?\n/m, '').replace(/[\s,[\]:]|plugins/g, '')).toBe(
      before.replace(/[\s,[\]:]|plugins/g, ''),
    )
    expect(editConfig(after, call)).toEqual({ kind: 'already' })
  })

  it.each(Object.entries(unclear))('no config that is unclear: %s', (_, [source, why]) => {
    expect(editConfig(source, call)).toEqual({ kind: 'unclear', why })
  })
})

it('source text is cut where its words, texts and expressions end', () => {
  const source = "a = `x${ { b: '}' }.b }y` / 2 / c; d = /['\"/\\/]+/g.test(e) // f 'g\n/* h \" */ i?.['j']"
  expect(
    tokensOf(source)
      ?.filter(({ kind }) => kind !== 'mark')
      .map(({ text }) => text),
  ).toEqual(['a', "`x${ { b: '}' }.b }y`", '2', 'c', 'd', `/['"/\\/]+/g`, 'test', 'e', 'i', "'j'"])
  expect(exportsOf('export { a, b as c }; export const d = 1, e = 2; export default async function f() {}')).toEqual([
    'a',
    'c',
    'd',
    'default',
  ])
})

describe('harvest init', () => {
  const sources = {
    'package.json': '{ "type": "module" }',
    'src/refund-agent.ts':
      "import OpenAI from 'openai'\n// export async function decoy(x) {}\nexport async function refundAgent(ticket: Ticket) {\n  return new OpenAI()\n}\n",
    'src/agents/billing-agent.ts':
      "export default async function (input: string) {\n  return fetch('https://model.example')\n}\n",
    'src/tools.ts': 'export async function lookup(id: string) {\n  return id\n}\n',
    'src/refund-agent.test.ts': "import 'openai'\nexport async function testAgent(x: string) {}\n",
  }

  it('finds agents, writes a config and the ignored inbox, and says so once', async () => {
    const cwd = project(sources)
    const dry = await harvest(['init', '--dry-run'], { cwd })
    expect(dry).toMatchObject({ code: 0, stderr: '' })
    expect(existsSync(join(cwd, 'vitest.config.ts'))).toBe(false)
    expect(dry.stdout).toMatchInlineSnapshot(`
      "billing  ./src/agents/billing-agent.ts#default  exported async function with an input; its file is
                                                      called an agent and fetches
      refund   ./src/refund-agent.ts#refundAgent      exported async function with an input; its file
                                                      imports openai

      vitest.config.ts (new)
        +import { defineConfig } from 'vitest/config'
        +import { harvest } from 'vitest-harvest/plugin'
        +
        +export default defineConfig({
        +  plugins: [harvest({ agents: { billing: './src/agents/billing-agent.ts#default', refund: './src/refund-agent.ts#refundAgent' } })],
        +})
      .gitignore (new)
        +recordings/inbox/
        +.harvest/
        +.vitest/
      .gitattributes (new)
        +*.tape.jsonl -text
      Nothing was changed: this was a dry run.
      "
    `)
    const { code, stdout } = await harvest(['init'], { cwd })
    expect(code).toBe(0)
    expect(stdout).toContain('Done.')
    expect(readFileSync(join(cwd, 'vitest.config.ts'), 'utf8')).toContain(
      "plugins: [harvest({ agents: { billing: './src/agents/billing-agent.ts#default', refund: './src/refund-agent.ts#refundAgent' } })]",
    )
    expect(readFileSync(join(cwd, '.gitignore'), 'utf8')).toBe('recordings/inbox/\n.harvest/\n.vitest/\n')
    expect(readFileSync(join(cwd, 'package.json'), 'utf8')).toBe(sources['package.json'])
    const before = ['vitest.config.ts', '.gitignore'].map((file) => statSync(join(cwd, file)).mtimeMs)
    const again = await harvest(['init'], { cwd })
    expect(again).toEqual({
      code: 0,
      stdout:
        'Nothing to do: the plugin is in the config, the inbox and reports in .gitignore, tapes in .gitattributes.\n',
      stderr: '',
    })
    expect(['vitest.config.ts', '.gitignore'].map((file) => statSync(join(cwd, file)).mtimeMs)).toEqual(before)
  })

  it('takes the agents that are named, and refuses those that are not there', async () => {
    const cwd = project({ ...sources, '.gitignore': 'node_modules' })
    for (const bad of ['refund', 'refund=./src/nowhere.ts#x', 'refund=./src/refund-agent.ts#decoy']) {
      const { code, stdout, stderr } = await harvest(['init', '--agent', bad], { cwd })
      expect(stderr).toContain('HARVEST_INIT_AGENT')
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    }
    expect(existsSync(join(cwd, 'vitest.config.ts'))).toBe(false)
    const { code, stdout } = await harvest(
      ['init', '--agent', 'money-back=src/refund-agent.ts#refundAgent', '--json'],
      { cwd },
    )
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ written: true, config: { file: 'vitest.config.ts', state: 'created' } })
    expect(readFileSync(join(cwd, 'vitest.config.ts'), 'utf8')).toContain(
      "{ 'money-back': './src/refund-agent.ts#refundAgent' }",
    )
    expect(readFileSync(join(cwd, '.gitignore'), 'utf8')).toBe('node_modules\nrecordings/inbox/\n.harvest/\n.vitest/\n')
  })

  it('leaves a config alone that it does not understand, and prints what to paste', async () => {
    const config = "import config from './elsewhere.ts'\nexport default config\n"
    const cwd = project({ ...sources, 'vitest.config.ts': config })
    const { code, stdout, stderr } = await harvest(['init'], { cwd })
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatchInlineSnapshot(`
      "vitest.config.ts is not changed: it exports no config that is written out in it

        import { harvest } from 'vitest-harvest/plugin'

        plugins: [harvest({ agents: { billing: './src/agents/billing-agent.ts#default', refund: './src/refund-agent.ts#refundAgent' } })]

      Only configs of a known form are edited automatically.
      → add these two lines to vitest.config.ts, then run again: npx vitest-harvest init
      (HARVEST_INIT_CONFIG)
      "
    `)
    expect(readFileSync(join(cwd, 'vitest.config.ts'), 'utf8')).toBe(config)
    expect(existsSync(join(cwd, '.gitignore'))).toBe(false)
  })

  it('changes the config that Vitest reads, and names the other', async () => {
    const cwd = project({
      ...sources,
      'vite.config.ts': 'export default {}\n',
      'vitest.config.mts': 'export default {}\n',
    })
    const { stdout } = await harvest(['init'], { cwd })
    expect(stdout).toContain('vite.config.ts is left alone: Vitest reads vitest.config.mts\n')
    expect(readFileSync(join(cwd, 'vite.config.ts'), 'utf8')).toBe('export default {}\n')
  })

  it('without an agent there is nothing to set up', async () => {
    const { code, stderr } = await harvest(['init'], { cwd: project({ 'package.json': '{}' }) })
    expect(stderr).toContain('No agent was found')
    expect(code).toBe(2)
  })
})

describe('Vitest runs a case with the config that was changed:', () => {
  let base = ''
  beforeAll(async () => {
    // Inside the repository: its node_modules are found from there.
    base = mkdtempSync(join(repository, '.docs-init-'))
    await installPackage(base)
  })
  afterAll(() => rmSync(base, { recursive: true, force: true }))

  const helpers = {
    'plugins.ts': "export const one = (_: unknown) => ({ name: 'one' })\nexport const two = () => ({ name: 'two' })\n",
    'base.ts': "export default { test: { name: 'base' } }\n",
    'some.test.ts': "import { test } from 'vitest'\ntest('runs', () => {})\n",
    'unit/some.test.ts': "import { test } from 'vitest'\ntest('runs', () => {})\n",
    'some.test.js': "import { test } from 'vitest'\ntest('runs', () => {})\n",
  }
  const tried = ['an object in defineConfig']
  const triedThoroughly = [
    'an object on one line',
    'plugins, one to a line, tabs and semicolons',
    'an async function with a body',
    'mergeConfig',
    'projects',
    'CommonJS',
  ]

  it.concurrent.each(tried)('%s', runsCase)
  it.concurrent.each(triedThoroughly)('%s', { tags: 'thorough' }, runsCase)

  async function runsCase(name: string): Promise<void> {
    const { file, before } = shapes[name]!
    const cwd = join(base, name.replaceAll(/[^a-z]+/g, '-'))
    const files = {
      ...helpers,
      ...refundSources,
      ...golden('refund', refundBaseline),
      [file]: before,
      'package.json': '{ "type": "module" }',
    }
    write(cwd, files)
    const { code, stderr } = await harvest(['init', '--add', 'refund=./src/refund.ts#refundAgent'], { cwd })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const vitest = join(repository, 'node_modules/vitest/vitest.mjs')
    const ran = await run(process.execPath, [vitest, 'run', '--no-color'], { cwd })
    expect(`${ran.stdout}${ran.stderr}`).toMatch(/Recordings\s+1 replayed/)
    expect(ran.code).toBe(0)
  }
})

function project(files: Readonly<Record<string, string>>): string {
  const folder = scratch()
  write(folder, files)
  return folder
}

function write(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), text)
  }
}

describe('a workflow that runs Vitest', () => {
  const plan = (files: Readonly<Record<string, string>>) => planWorkflows(project(files))
  const workflow = (steps: string): Record<string, string> => ({
    '.github/workflows/test.yml': `on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n${steps}`,
  })
  const kept = `      - name: Keep the reports of red cases
        if: \${{ failure() }}
        uses: actions/upload-artifact@v5
        with:
          name: harvest-report-\${{ github.job }}-\${{ strategy.job-index }}
          path: |
            **/.harvest/report
            !**/node_modules/**
          include-hidden-files: true
          if-no-files-found: ignore
`

  it.each([
    ['in one line', '      - run: npm ci\n      - run: npx vitest run --shard=1/3\n'],
    [
      'with a name',
      '      - run: npm ci\n      - name: Test\n        run: npx vitest-harvest test\n        env:\n          CI: true\n',
    ],
    [
      'among other commands',
      '      - run: |\n          npm ci\n          npx vitest run\n          npx vitest run --merge-reports\n',
    ],
  ])('gets a step that keeps the reports of red cases behind it: %s', (_, steps) => {
    const [planned] = plan(workflow(steps))
    expect(planned).toMatchObject({ file: '.github/workflows/test.yml', state: 'changed' })
    expect(planned?.after).toBe(`${planned?.before}${kept}`)
    expect(() => parse(planned?.after ?? '') as unknown).not.toThrow()
  })

  it('is found by a script of the package that runs it, and only by such a one', () => {
    const manifest = { 'package.json': '{"scripts":{"test":"vitest run","lint":"oxlint"}}' }
    const steps = '      - run: npm test\n      - run: npm run lint\n'
    expect(plan({ ...manifest, ...workflow(steps) })[0]?.after).toContain(
      `      - run: npm test\n${kept}      - run: npm run lint\n`,
    )
    expect(plan(workflow(steps))).toEqual([])
  })

  it('is left alone when it keeps them already', () => {
    const [planned] = plan(workflow(`      - run: npx vitest run\n${kept}`))
    expect(planned).toMatchObject({ state: 'already' })
    expect(plan({})).toEqual([])
  })
})
