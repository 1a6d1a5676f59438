import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { HarvestError, neutralLine } from '../../errors/index.ts'
import { configFiles } from '../config-files.ts'
import { type ConfigEdit, editConfig } from './edit-config.ts'
import { attributesLine, keepsTapes } from '../../check/git-attributes.ts'
import { planWorkflows } from './workflow.ts'
import { exportsOf, findAgents, type FoundAgent } from './find-agents.ts'

/** One file as it is and as it will be. */
export interface PlannedFile {
  readonly file: string
  readonly state: 'created' | 'changed' | 'already'
  readonly before: string
  readonly after: string
}

/** What `npx vitest-harvest init` would do. */
export interface Plan {
  readonly agents: readonly FoundAgent[]
  readonly config: PlannedFile
  readonly gitignore: PlannedFile
  readonly gitattributes: PlannedFile
  /** Workflows of GitHub Actions that run Vitest. */
  readonly workflows: readonly PlannedFile[]
  /** Config files beside the one that counts. */
  readonly ignored: readonly string[]
}

/**
 * Looks at a project and says what is missing; writes nothing.
 *
 * @param named - agents named by hand, as `refund=./src/refund.ts#refundAgent`; with one, none are looked for
 * @throws HarvestError `HARVEST_INIT_CONFIG` when the config cannot be changed safely, with the lines to paste;
 * `HARVEST_INIT_AGENT` when no agent is found, or one that was named is not there
 */
export function planInit(folder: string, named: readonly string[]): Plan {
  const [file, ...ignored] = configFiles(folder)
  const source = file === undefined ? '' : readFileSync(join(folder, file), 'utf8')
  const isThere = file !== undefined && editConfig(source, 'harvest()').kind === 'already'
  const agents = named.length > 0 ? named.map((word) => namedAgent(folder, word)) : isThere ? [] : findAgents(folder)
  const git = {
    gitignore: planGitignore(folder),
    gitattributes: planGitattributes(folder),
    workflows: planWorkflows(folder),
  }
  if (isThere) return { agents: [], config: { file, state: 'already', before: source, after: source }, ...git, ignored }
  if (agents.length === 0) throw noAgents()
  return {
    agents,
    config: file === undefined ? newConfig(folder, agents) : changed(file, source, agents),
    ...git,
    ignored,
  }
}

function changed(file: string, source: string, agents: readonly FoundAgent[]): PlannedFile {
  const quote = (source.match(/"/g) ?? []).length > (source.match(/'/g) ?? []).length ? '"' : "'"
  const call = pluginCall(agents, quote)
  const edit: ConfigEdit = editConfig(source, call)
  switch (edit.kind) {
    case 'changed':
      return { file, state: 'changed', before: source, after: edit.text }
    case 'already':
      return { file, state: 'already', before: source, after: source }
    case 'unclear':
      throw new HarvestError('HARVEST_INIT_CONFIG', {
        what: `${file} is not changed: it ${edit.why}`,
        detail: ["  import { harvest } from 'vitest-harvest/plugin'", '', `  plugins: [${call}]`].join('\n'),
        why: 'Only configs of a known form are edited automatically.',
        fix: [`add these two lines to ${file}, then run again: npx vitest-harvest init`],
      })
    default:
      return edit satisfies never
  }
}

function newConfig(folder: string, agents: readonly FoundAgent[]): PlannedFile {
  const manifest = join(folder, 'package.json')
  const isModule = existsSync(manifest) && /"type"\s*:\s*"module"/.test(readFileSync(manifest, 'utf8'))
  const after = [
    "import { defineConfig } from 'vitest/config'",
    "import { harvest } from 'vitest-harvest/plugin'",
    '',
    'export default defineConfig({',
    `  plugins: [${pluginCall(agents, "'")}],`,
    '})',
    '',
  ].join('\n')
  return { file: isModule ? 'vitest.config.ts' : 'vitest.config.mts', state: 'created', before: '', after }
}

/** `harvest({ agents: { refund: './src/refund.ts#refundAgent' } })` */
function pluginCall(agents: readonly FoundAgent[], quote: string): string {
  const text = (value: string): string => {
    const inJson = JSON.stringify(value).slice(1, -1)
    return quote === '"' ? `"${inJson}"` : `'${inJson.replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
  }
  const entries = agents.map(
    ({ name, entry }) => `${/^[A-Za-z_$][\w$]*$/.test(name) ? name : text(name)}: ${text(entry)}`,
  )
  return `harvest({ agents: { ${entries.join(', ')} } })`
}

/** `refund=./src/refund.ts#refundAgent`, when there is such a file with such an export. */
function namedAgent(folder: string, word: string): FoundAgent {
  const [, name = '', file = '', exported = ''] = /^([^=]+)=([^#]+)#([\p{ID_Continue}$]+)$/u.exec(word) ?? []
  const refuse = (what: string): HarvestError =>
    new HarvestError('HARVEST_INIT_AGENT', {
      what,
      where: { agent: neutralLine(word) },
      fix: ['for instance: npx vitest-harvest init --add refund=./src/refund-agent.ts#refundAgent'],
    })
  if (name === '' || /[\p{C}]/u.test(word)) throw refuse('Invalid agent: expected its name, file and export')
  const entry = /^\.{0,2}\//.test(file) ? file : `./${file}`
  if (!existsSync(join(folder, entry))) throw refuse('Cannot find the file of the agent')
  const names = exportsOf(readFileSync(join(folder, entry), 'utf8'))
  if (!names.includes(exported))
    throw refuse(`The file of the agent has no such export; its exports: ${neutralLine(names.join(', ') || 'none')}`)
  return { name, entry: `${entry}#${exported}`, why: 'was named' }
}

function planGitignore(folder: string): PlannedFile {
  return withLines(folder, '.gitignore', [
    [
      'recordings/inbox/',
      (lines) => lines.some((line) => /^(?:\*\*)?\/?(?:recordings\/)?inbox\/?(?:\*{1,2})?\s*$/.test(line)),
    ],
    // Reports of red cases hold what their tapes hold.
    ['.harvest/', (lines) => lines.some((line) => /^(?:\*\*)?\/?\.harvest\/?(?:\*{1,2})?\s*$/.test(line))],
    // Vitest keeps a copy of each as an attachment.
    [
      '.vitest/',
      (lines) => lines.some((line) => /^(?:\*\*)?\/?\.vitest\/?(?:attachments\/?)?(?:\*{1,2})?\s*$/.test(line)),
    ],
  ])
}

/** Git on Windows turns the ends of lines, and with them every digest of a tape. */
function planGitattributes(folder: string): PlannedFile {
  return withLines(folder, '.gitattributes', [[attributesLine, (lines) => keepsTapes(lines.join('\n'))]])
}

/** A file with lines at its end, but those that it has already. */
function withLines(
  folder: string,
  file: string,
  wanted: readonly (readonly [line: string, isSaid: (lines: readonly string[]) => boolean])[],
): PlannedFile {
  const path = join(folder, file)
  const isNew = !existsSync(path)
  const before = isNew ? '' : readFileSync(path, 'utf8')
  const missing = wanted.flatMap(([line, isSaid]) => (isSaid(before.split(/\r?\n/)) ? [] : [line]))
  if (missing.length === 0) return { file, state: 'already', before, after: before }
  const lineEnd = before.includes('\r\n') ? '\r\n' : '\n'
  const gap = before === '' || before.endsWith('\n') ? '' : lineEnd
  return {
    file,
    state: isNew ? 'created' : 'changed',
    before,
    after: `${before}${gap}${missing.map((line) => line + lineEnd).join('')}`,
  }
}

function noAgents(): HarvestError {
  return new HarvestError('HARVEST_INIT_AGENT', {
    what: 'No agent was found',
    why: 'Looked for exported async functions that take an input, in files that import the SDK of a model.',
    fix: ['name one: npx vitest-harvest init --add refund=./src/refund-agent.ts#refundAgent'],
  })
}
