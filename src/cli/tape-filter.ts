import { readFileSync } from 'node:fs'
import { isSubjectTag, subjectKeys, subjectTag, subjectVariable } from '../privacy/index.ts'
import type { TapeFilter } from '../recordings/index.ts'
import { momentMeaning, parseMoment } from '../report/moments.ts'
import { keptReasons } from '../tape/index.ts'
import { choose } from './choose.ts'
import type { CommandInput, CommandSpec } from './command.ts'
import { badValue, usage } from './parse.ts'

/**
 * The tapes that the options of `filterOptions` ask for.
 *
 * @param now - epoch milliseconds, for `2h` and `3d`
 * @throws HarvestError what is wrong with an option
 */
export function filterOf(given: CommandInput, now: number, spec: CommandSpec): TapeFilter {
  if (given.has('inbox') && given.has('golden'))
    throw usage(spec, 'HARVEST_CLI_ARGUMENT', '--inbox and --golden exclude each other', [
      'to see all: the same command, without --inbox and --golden',
    ])
  const outcome = choose(given, 'status', ['returned', 'threw', 'exited', 'unknown', 'truncated', 'unreadable'], spec)
  return defined({
    agent: given.value('agent'),
    outcome,
    model: given.value('model'),
    commit: given.value('commit')?.toLowerCase(),
    tool: given.value('tool'),
    id: given.value('id'),
    ...many(given, 'text', spec),
    ...many(given, 'call', spec),
    subject: subjectOf(given, spec),
    session: given.value('session'),
    attributes: attributesOf(given, spec),
    ...costOf(given, spec),
    since: moment(given, 'since', now, spec),
    until: moment(given, 'until', now, spec),
    kept: choose(given, 'kept', keptReasons, spec),
    retention: choose(given, 'retention', ['clean', 'flagged', 'incident', 'none'], spec),
    place: given.has('inbox') ? 'inbox' : given.has('golden') ? 'golden' : undefined,
  })
}

/** A filter that may be given more than once: everything has to fit. */
function many(given: CommandInput, name: 'text' | 'call', spec: CommandSpec): TapeFilter {
  const values = given.values(name)
  if (values.includes('')) throw usage(spec, 'HARVEST_CLI_ARGUMENT', `--${name} needs a value`)
  return values.length === 0 ? {} : { [name]: values }
}

/** Tags of a subject, by each key: tapes hold no names. */
function subjectOf(given: CommandInput, spec: CommandSpec): readonly string[] | undefined {
  const text = given.value('subject')
  if (text === undefined) return undefined
  // On a command line it stays in the history of the shell.
  const subject = text === '-' ? readFileSync(0, 'utf8').trim() : text
  if (subject === '') throw usage(spec, 'HARVEST_CLI_ARGUMENT', '--subject needs a value')
  if (isSubjectTag(subject)) return [subject]
  const keys = subjectKeys()
  if (keys.length === 0)
    throw usage(spec, 'HARVEST_CLI_ARGUMENT', `--subject needs the key of the recorder in ${subjectVariable}`, [
      `${subjectVariable}=… npx vitest-harvest ls --subject -`,
    ])
  return keys.map((key) => subjectTag(subject, key))
}

function attributesOf(given: CommandInput, spec: CommandSpec): Readonly<Record<string, string>> | undefined {
  const pairs = given.values('attribute').map((text): [string, string] => {
    const at = text.indexOf('=')
    if (at < 1) throw badValue(spec, 'attribute', text, 'name=value')
    return [text.slice(0, at), text.slice(at + 1)]
  })
  return pairs.length === 0 ? undefined : Object.fromEntries(pairs)
}

/** `0.10..2`, `1..` and `..0.05`; given more than once, every range holds. */
function costOf(given: CommandInput, spec: CommandSpec): { minCostUsd?: number; maxCostUsd?: number } {
  const ranges = given.values('cost').map((text) => {
    const [, from = '', to = ''] = /^(\d*\.?\d+)?\.\.(\d*\.?\d+)?$/.exec(text) ?? []
    if (from === '' && to === '') throw badValue(spec, 'cost', text, 'a range in US dollars such as 0.10..2')
    return { from, to }
  })
  const least = ranges.flatMap(({ from }) => (from === '' ? [] : [Number(from)]))
  const most = ranges.flatMap(({ to }) => (to === '' ? [] : [Number(to)]))
  return {
    ...(least.length === 0 ? {} : { minCostUsd: Math.max(...least) }),
    ...(most.length === 0 ? {} : { maxCostUsd: Math.min(...most) }),
  }
}

function moment(given: CommandInput, option: 'since' | 'until', now: number, spec: CommandSpec): number | undefined {
  const text = given.value(option)
  if (text === undefined) return undefined
  const parsed = parseMoment(text, option, now)
  if (parsed !== undefined) return parsed
  throw badValue(spec, option, text, momentMeaning)
}

type Defined<T> = { readonly [Key in keyof T]?: Exclude<T[Key], undefined> }

/** Without the fields that are `undefined`. */
export function defined<T extends object>(fields: T): Defined<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>
}
