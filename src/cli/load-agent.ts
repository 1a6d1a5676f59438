import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { HarvestError, neutralLine } from '../errors/index.ts'
import { ownFolder } from '../own-files.ts'

type Agent = (input: unknown) => unknown

/** Loads `file#export` as a function. */
export async function loadAgent(spec: string): Promise<Agent> {
  const [file = '', name = 'default'] = spec.split('#', 2)
  const module = await load(resolve(file), spec)
  const agent = module[name]
  if (typeof agent === 'function') return agent as Agent
  const functions = Object.keys(module).filter((key) => typeof module[key] === 'function')
  throw new HarvestError('HARVEST_CLI_AGENT', {
    what: `${neutralLine(file)} exports no function '${neutralLine(name)}'`,
    where: { agent: neutralLine(spec), exports: functions.join(', ') || 'no function' },
    fix: functions.map((one) => `--module ${file}#${one}`),
  })
}

async function load(file: string, spec: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return (await import(pathToFileURL(file).href)) as Readonly<Record<string, unknown>>
  } catch (cause) {
    throw new HarvestError(
      'HARVEST_CLI_AGENT',
      {
        what: 'The agent could not be loaded',
        where: { agent: neutralLine(spec), file },
        detail: reasonOf(cause),
        fix: ['name the file and its export: --module ./src/refund-agent.ts#refundAgent'],
      },
      { cause },
    )
  }
}

/** Message and the frames in the user's files; those of Node and of this package say nothing to them. */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  const lines = (cause.stack ?? cause.message).split('\n')
  return lines.filter((line) => !/^\s+at .*node:/.test(line) && !line.includes(ownFolder.href)).join('\n')
}
