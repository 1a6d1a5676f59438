import type { Command, CommandInput } from './command.ts'
import { badValue } from './parse.ts'

/** Kinds of findings that are not secret here. */
export async function allowedSecrets(given: CommandInput, command: Command): Promise<readonly string[]> {
  const { kindsOff, kindsOn } = await import('../privacy/index.ts')
  const allow = given.values('allow-secret')
  const stranger = allow.find((kind) => ![...kindsOn, ...kindsOff].includes(kind))
  if (stranger === undefined) return allow
  throw badValue(command, 'allow-secret', stranger, 'a kind of secret', [`one of: ${kindsOn.join(', ')}`])
}

const units: Readonly<Record<string, number>> = { '': 1, b: 1, kb: 1024, mb: 1024 * 1024 }

/** The largest tape, in bytes. */
export function sizeOf(given: CommandInput, command: Command): number | undefined {
  const text = given.value('max-size')
  if (text === undefined) return undefined
  const [, number = '', unit = ''] = /^(\d{1,9}(?:\.\d{1,3})?)(b|kb|mb)?$/i.exec(text) ?? []
  if (number !== '') return Math.floor(Number(number) * (units[unit.toLowerCase()] ?? 1))
  throw badValue(command, 'max-size', text, 'a size such as 20mb')
}
