import { neutralLine } from '../errors/index.ts'
import type { Command, CommandInput } from './command.ts'
import { usage } from './parse.ts'

/** Kinds of findings that are not secret here. */
export async function allowedSecrets(given: CommandInput, command: Command): Promise<readonly string[]> {
  const { kindsOff, kindsOn } = await import('../privacy/index.ts')
  const allow = given.values('allow-secret')
  const stranger = allow.find((kind) => ![...kindsOn, ...kindsOff].includes(kind))
  if (stranger === undefined) return allow
  throw usage(command, 'HARVEST_CLI_OPTION', `Unknown kind of secret: '${neutralLine(stranger, 40)}'`, [
    `one of: ${kindsOn.join(', ')}`,
  ])
}

const units: Readonly<Record<string, number>> = { '': 1, b: 1, kb: 1024, mb: 1024 * 1024 }

/** The largest tape, in bytes. */
export function sizeOf(given: CommandInput, command: Command): number | undefined {
  const text = given.value('max-size')
  if (text === undefined) return undefined
  const [, number = '', unit = ''] = /^(\d{1,9}(?:\.\d{1,3})?)(b|kb|mb)?$/i.exec(text) ?? []
  if (number !== '') return Math.floor(Number(number) * (units[unit.toLowerCase()] ?? 1))
  throw usage(command, 'HARVEST_CLI_OPTION', `Invalid --max-size: '${neutralLine(text, 40)}'`, [
    'for instance: --max-size 20mb',
  ])
}
