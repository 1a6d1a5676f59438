import { HarvestError, nearestWord, shellWord } from '../errors/index.ts'
import { thrownText } from '../match/redact-message.ts'

/** An agent of the plugin's options, as a generated module hands it over. */
export interface AgentLink {
  readonly name: string
  /** Name of the export. */
  readonly export: string
  /** Imports the agent's module; every call may load it again. */
  readonly load: () => Promise<object>
}

export type CaseAgent = (input: unknown) => unknown

/**
 * Loads the agent of a case.
 *
 * @param asked - the key the case names
 * @param known - the keys there are
 * @param isRecorded - the tape or its case names it, and not a command: it may have another name by now. Default false
 * @throws HarvestError `HARVEST_AGENT_UNKNOWN`, `HARVEST_AGENT_IMPORT` when its module cannot be loaded, and
 *   `HARVEST_AGENT_EXPORT` when it has no such function
 */
export async function loadAgent(
  link: AgentLink | undefined,
  asked: string,
  known: readonly string[],
  isRecorded = false,
): Promise<CaseAgent> {
  if (link === undefined) throw unknownAgent(asked, known, isRecorded)
  const exports = await importModule(link)
  const agent: unknown = Reflect.get(exports, link.export)
  if (typeof agent !== 'function') throw noExport(link, exports)
  return (input) => Reflect.apply(agent, undefined, [input])
}

async function importModule(link: AgentLink): Promise<object> {
  try {
    return await link.load()
  } catch (cause) {
    throw new HarvestError(
      'HARVEST_AGENT_IMPORT',
      {
        what: `Cannot load the agent ${link.name}`,
        where: { error: lineOfThrown(cause) },
        why: isMissing(cause)
          ? 'Its file is not there, or something it imports.'
          : 'Its module, or one it imports, threw while loading.',
        fix: isMissing(cause) ? toFind(link) : toLoad(cause),
      },
      { cause },
    )
  }
}

function isMissing(thrown: unknown): boolean {
  return (thrown as { readonly code?: unknown } | null | undefined)?.code === 'ERR_MODULE_NOT_FOUND'
}

function toFind({ name }: AgentLink): readonly string[] {
  return [
    `if the file has another place now: correct agents.${name} in vitest.config.ts`,
    'if a package is missing: npm install',
  ]
}

function toLoad(thrown: unknown): readonly string[] {
  const variable = unsetVariable(lineOfThrown(thrown))
  return [
    ...(variable === undefined ? [] : [`to set what it names: export ${variable}='<value>'`]),
    'to see the error alone: import the file in a test of its own',
  ]
}

/** The first environment variable that a message names, as clients do that miss their key, and that is not set. */
function unsetVariable(message: string): string | undefined {
  const names = message.match(/\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b/g) ?? []
  return names.find((name) => process.env[name] === undefined)
}

/** What a module threw while it was loaded, redacted: keys are read there. */
export function lineOfThrown(thrown: unknown): string {
  return thrownText(thrown)
}

function unknownAgent(asked: string, known: readonly string[], isRecorded: boolean): HarvestError {
  const near = nearestWord(asked, known)
  const now = near ?? (known.length === 1 ? known[0] : undefined)
  return new HarvestError('HARVEST_AGENT_UNKNOWN', {
    what: `Unknown agent: ${asked}`,
    where: { known: known.length > 0 ? known.join(', ') : 'none' },
    fix: [
      ...(near === undefined || isRecorded ? [] : [`did you mean: ${shellWord(near)} instead of ${shellWord(asked)}`]),
      ...(isRecorded && known.length > 0
        ? [`if it has another name now: --agent ${now === undefined ? "'<name>'" : shellWord(now)}`]
        : []),
      `add it in vitest.config.ts: harvest({ agents: { '${asked}': './src/….ts#…' } })`,
      'or correct `agent:` in the case',
    ],
  })
}

function noExport(link: AgentLink, exports: object): HarvestError {
  const functions = Object.keys(exports).filter((name) => typeof Reflect.get(exports, name) === 'function')
  const wanted = link.export === 'default' ? 'default export' : `export ${link.export}`
  return new HarvestError('HARVEST_AGENT_EXPORT', {
    what: `The module of the agent ${link.name} has no function export ${wanted}`,
    where: { functions: functions.length > 0 ? functions.join(', ') : 'none' },
    fix: [`name one of them in vitest.config.ts: agents: { ${link.name}: './….ts#${functions[0] ?? 'myAgent'}' }`],
  })
}
