import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { compileCache } from '../../fixtures/child/compile-cache.ts'
import { runInChild } from '../../fixtures/child/index.ts'
import { withProvider } from '../../fixtures/provider/index.ts'
import { installPackage } from '../../scripts/project.ts'
import type { RecordJob } from './record.child.ts'

const repository = resolve(import.meta.dirname, '../..')

/** Agents that speak through real clients and take their address from their input. */
export const clients = [
  'openai-chat-stream',
  'openai-responses-stream',
  'openai-chat-json',
  'openai-chat-json-wrapped',
  'openai-embeddings',
  'anthropic-json',
  'anthropic-stream',
  'ai-sdk-openai-wrapped',
  'ai-sdk-responses-stream',
  'ai-sdk-anthropic-stream',
  'langgraph',
  'google-genai',
  'bedrock-converse',
  'axios',
  'got',
  'mcp-http',
  'mcp-stdio',
  'openai-agents',
  'undici-fetch',
  'clock-and-ids',
] as const

/** Files of a folder of agents, by name. */
export function agentsIn(folder: string): Readonly<Record<string, string>> {
  const files = globSync(`${folder}/*.ts`, { cwd: join(repository, 'fixtures') }).sort()
  return Object.fromEntries(files.map((file) => [basename(file, '.ts'), `fixtures/${file}`]))
}

/** The environment of whoever records and replays here; nothing of the Vitest that runs this test. */
const environment: Readonly<Record<string, string>> = {
  PATH: process.env['PATH'] ?? '',
  HOME: process.env['HOME'] ?? '/',
  SHOP_REGION: 'eu-north',
  SHOP_API_KEY: 'not-a-key',
  NO_COLOR: '1',
  ...compileCache,
}

export interface Project extends Disposable {
  readonly folder: string
  /** The environment the agents were recorded in. */
  readonly env: Readonly<Record<string, string>>
}

/** A project of its own inside the repository, with agents that were recorded for real. */
export async function openProject(agents: Readonly<Record<string, string>>): Promise<Project> {
  // Inside the repository: its node_modules are found from there.
  const folder = await mkdtemp(join(repository, '.docs-doctor-'))
  await installPackage(folder)
  for (const file of globSync(['doctor/**/*.ts', 'agents/*.ts', 'provider/*.ts', 'provider/tls/*'], {
    cwd: join(repository, 'fixtures'),
  })) {
    write(folder, `fixtures/${file}`, readFileSync(join(repository, 'fixtures', file), 'utf8'))
  }
  write(folder, 'vitest.config.ts', config(agents))
  write(folder, '.gitignore', 'node_modules/\nrecordings/inbox/\nvar/\n')
  for (const name of ['returns', 'refunds', 'shipping']) write(folder, `rules/${name}.md`, `How we do ${name}.\n`)
  write(folder, 'var/notes.txt', 'The warehouse is closed on 24 December.\n')
  write(folder, 'var/count.txt', '1')
  const database = new DatabaseSync(join(folder, 'var/shop.db'))
  database.exec("create table orders (id text, total integer); insert into orders values ('A-1', 25)")
  database.close()
  for (const words of [
    ['init', '--quiet'],
    ['add', '.'],
  ])
    execFileSync('git', words, { cwd: folder })
  const env = await record(folder, agents)
  return { folder, env, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) }
}

/** Adds agents to a project, as files with this text, and records them. */
export async function addAgents({ folder }: Project, texts: Readonly<Record<string, string>>): Promise<void> {
  const names = Object.keys(texts)
  const added = Object.fromEntries(names.map((name) => [name, `fixtures/doctor/planted/${name}.ts`]))
  for (const name of names) write(folder, added[name] ?? '', texts[name] ?? '')
  write(folder, 'vitest.config.ts', config(added))
  await record(folder, added)
}

async function record(folder: string, agents: Readonly<Record<string, string>>): Promise<Project['env']> {
  return withProvider(async ({ base, h2base, tlsbase, tlsh2base }) => {
    const job: RecordJob = { folder, agents, addresses: { base, h2base, tlsbase, tlsh2base } }
    const env = {
      ...environment,
      OPENAI_BASE_URL: `${base}/v1`,
      OPENAI_API_KEY: 'not-a-key',
      ANTHROPIC_BASE_URL: base,
      ANTHROPIC_API_KEY: 'not-a-key',
      SEARCH_URL: base,
      SHOP_SERVER: base,
      // Its trace exporter would post to the vendor from outside any run.
      OPENAI_AGENTS_DISABLE_TRACING: '1',
    }
    await runInChild(new URL('./record.child.ts', import.meta.url), job, { env })
    return env
  })
}

function config(agents: Readonly<Record<string, string>>): string {
  const entries = Object.fromEntries(Object.entries(agents).map(([name, file]) => [name, `./${file}#agent`]))
  return `import { defineConfig } from 'vitest/config'
import { harvest } from 'vitest-harvest/plugin'
export default defineConfig({ plugins: [harvest({ agents: ${JSON.stringify(entries)} })] })
`
}

/** Imports of the package by its place in the repository become imports by its name. */
function write(folder: string, file: string, text: string): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true })
  writeFileSync(join(folder, file), text.replaceAll(/(?:\.\.\/)+src\/record\/index\.ts/g, 'vitest-harvest/record'))
}
