import { neutralJson } from '../../errors/index.ts'
import type { CommandInput } from '../command.ts'
import { limitNames } from '../live.ts'
import { nameOf } from '../parse.ts'
import { debugSpec } from '../spec/debugger.ts'
import { type OptionChanges, typedAgain } from '../typed-again.ts'
import { refusals } from './code.ts'
import { addLive, addTools, commandIn } from './fork-lines.ts'
import { changesIn, partsOf } from './words.ts'

/** How the server is started so that its calls may ask models: with a limit. */
export function allowingLive(given: CommandInput): OptionChanges {
  const isLimited = limitNames.some((name) => given.has(name))
  return { live: true, ...(isLimited ? {} : { 'max-cost': '1' }) }
}

/**
 * A next step of the debugger as a coding agent takes it: another call, or another start of the server, where its command line
 * has to allow it. Empty where neither can do it.
 *
 * @param given - the command line of the server
 */
export function asCalls(step: string, given: CommandInput): readonly string[] {
  const about = (end: string): string => step.slice(0, -end.length)
  const startedWith = (changes: OptionChanges): string => `start the server with ${typedAgain(changes)}`
  if (step.endsWith(addTools)) return [about(addTools) + startedWith({ tools: 'live' })]
  if (step.endsWith(addLive))
    return [
      about(addLive) + (given.has('live') ? 'the same call with live: true' : startedWith(allowingLive(given))),
      ...(given.has('tools')
        ? []
        : [
            `if it may call otherwise, with tools run for real: ${startedWith({ ...allowingLive(given), tools: 'live' })}`,
          ]),
    ]
  const [, before, line] = /^((?:.*?: )?)what_if (\d.*)$/s.exec(step) ?? []
  if (before !== undefined && line !== undefined) return whatIf(before, line, given)
  const at = step.indexOf('npx vitest-harvest debug ')
  const asked = at === -1 ? undefined : commandIn(step.slice(at))
  const agent = asked?.value('module') ?? asked?.value('agent')
  if (asked !== undefined && agent !== undefined && !asked.has('mcp'))
    return [`${step.slice(0, at)}open_tape ${inJson({ tape: asked.args[0] ?? '', agent })}`]
  return [
    atStart(step)
      .replace(/: the same line(?:, without --no-cache)?$/, ': the same call')
      .replace(/: steps$/, ': open_tape'),
  ]
}

/** A step that names a folder of recordings: for a server it is an option of its start, and of no call. */
export function atStart(step: string): string {
  const [, before, word] = /^(.*: )--dir (.+)$/s.exec(step) ?? []
  if (before === undefined || word === undefined) return step
  return `${before}start the server with ${typedAgain({ dir: changesIn(word)[0] ?? word })}`
}

/** Why an expression is not evaluated at a step, and the call that answers instead, where there is one. */
export function asValue(why: string, step: number): string {
  if (why.startsWith(refusals.read)) return `${refusals.read}: inspect ${inJson({ step, part: 'clock' })} prints it`
  return why.startsWith(refusals.change) ? `${refusals.change}: only what reads is evaluated` : why
}

/** A line of the debugger: options of it are for the command line of the server to say, but for `live`. */
function whatIf(before: string, line: string, given: CommandInput): readonly string[] {
  const [step, ...words] = changesIn(line)
  const { changes, options } = partsOf(words)
  const asked = options.map((word) => /^--([a-z-]+)(?:=(.*))?$/s.exec(word) ?? [])
  const isLive = options.includes('--live')
  const others = asked.filter(([, name]) => name !== 'live')
  if (others.some(([, name]) => !debugSpec.options.some(({ flag }) => nameOf(flag) === `--${name}`))) return []
  const set: OptionChanges = {
    ...(isLive && !given.has('live') ? allowingLive(given) : {}),
    ...Object.fromEntries(others.map(([, name = '', value]) => [name, value ?? true])),
  }
  if (Object.keys(set).length > 0) return [`${before}start the server with ${typedAgain(set)}`]
  return [`${before}what_if ${inJson({ step: Number(step), changes, ...(isLive ? { live: true } : {}) })}`]
}

function inJson(args: object): string {
  return neutralJson(JSON.stringify(args))
}
