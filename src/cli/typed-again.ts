import { AsyncLocalStorage } from 'node:async_hooks'
import { nearestWord, shellWord } from '../errors/index.ts'
import { type CommandSpec, program } from './command.ts'
import { excludedBy, nameOf, optionTyped, specNamed, takesValue } from './parse.ts'
import { specs } from './spec/index.ts'

/**
 * Options by their names without dashes: set to a value, to all of several, set (`true`), left out (`false`), or left out
 * with their value (`undefined`).
 */
export type OptionChanges = Readonly<Record<string, string | readonly string[] | boolean | undefined>>

const within = new AsyncLocalStorage<readonly string[]>()

/** The words that were typed, without the name of the program. */
export function typedWords(): readonly string[] {
  return within.getStore() ?? process.argv.slice(2)
}

/** Does something as if these words had been typed: a command that another one runs, and its next steps. */
export function asTyped<T>(words: readonly string[], run: () => T): T {
  return within.run(words, run)
}

/**
 * The command line that was typed, with other options: what a reader pastes next. It is written as commands are now, leaves
 * out what does not stand beside a new option, and is the same where JSON was asked for.
 *
 * @param changes - a name without letters stands for all behind `--`
 * @param args - the arguments instead of those that were typed
 */
export function typedAgain(changes: OptionChanges, args?: readonly string[]): string {
  const { spec, parts, rest } = typedParts()
  const isSet = (name: string): boolean => ![undefined, false].includes(changes[name] as undefined | false)
  const excluded = Object.keys(changes).flatMap((name) =>
    spec === undefined || !isSet(name) ? [] : excludedBy(name, spec),
  )
  const left = new Set(['json', ...excluded, ...Object.keys(changes)])
  let place = -(spec?.name.split(' ').length ?? 1)
  const kept = parts.flatMap(({ option, words }) => {
    if (option !== undefined) return left.has(option) ? [] : words
    place++
    return args === undefined || place < 0 ? words : place === 0 ? [...words, ...args] : []
  })
  // An option that is there already gets the new value: given twice, the command would refuse it.
  const set = Object.entries(changes).flatMap(([name, value]) => {
    if (value === false || value === undefined) return []
    if (value === true) return [`--${name}`]
    if (typeof value !== 'string') return value.flatMap((one) => optionWords(name, one))
    const isMany = spec?.options.find(({ flag }) => nameOf(flag) === `--${name}`)?.many === true
    return (isMany ? corrected(typedValues(name), value) : [value]).flatMap((one) => optionWords(name, one))
  })
  return [program, ...[...kept, ...set, ...(changes[''] === false ? [] : rest)].map(shellWord)].join(' ')
}

/** The command line that was typed, with one word in the place of another; `undefined` where that was not typed. */
export function typedInstead(old: string, meant: string): string | undefined {
  const { spec, parts } = typedParts()
  const words = parts.flatMap(({ option, words: typed }) => (option === undefined ? typed : []))
  const args = words.slice(spec?.name.split(' ').length ?? 1)
  if (args.includes(old)) return typedAgain({}, args.with(args.indexOf(old), meant))
  const name = parts.find(({ value }) => value === old)?.option
  if (name === undefined) return undefined
  return typedAgain({ [name]: typedValues(name).map((value) => (value === old ? meant : value)) })
}

/** What an option was given, however it was spelled; an empty text where its value is missing. */
export function typedValues(name: string): readonly string[] {
  return typedParts().parts.flatMap(({ option, value }) => (option === name && value !== undefined ? [value] : []))
}

function typedParts(): {
  readonly spec: CommandSpec | undefined
  readonly parts: readonly Part[]
  readonly rest: readonly string[]
} {
  const argv = typedWords()
  const former = specNamed(argv, specs)
  const spec = presentOf(former)
  const typed = spec === former ? argv : inPresentWords(argv, former)
  const terminator = typed.indexOf('--')
  const end = terminator === -1 ? typed.length : terminator
  return { spec, parts: partsOf(typed.slice(0, end), spec), rest: typed.slice(end) }
}

/** The command that an earlier name stands for, where it takes all that the earlier one took; else the same. */
export function presentOf<Spec extends CommandSpec | undefined>(spec: Spec): CommandSpec | Spec {
  const present = spec?.now === undefined ? undefined : specNamed(spec.now.split(' '), specs)
  const flags = present?.options.map(({ flag }) => flag) ?? []
  const isWhole = present?.args === spec?.args && spec?.options.every(({ flag }) => flags.includes(flag)) === true
  return present !== undefined && isWhole ? present : spec
}

/** `isolate bad --live` → `blame --isolate bad --live`. */
function inPresentWords(argv: readonly string[], former: CommandSpec | undefined): readonly string[] {
  const at = argv.findIndex((word) => !word.startsWith('-'))
  return argv.toSpliced(at, former?.name.split(' ').length ?? 1, ...(former?.now ?? '').split(' '))
}

interface Part {
  readonly words: readonly string[]
  /** Its present name without dashes, however it was typed. */
  readonly option?: string
  readonly value?: string
}

/** Options in their present spelling: an earlier one would stand beside what a change sets. */
function partsOf(typed: readonly string[], spec: CommandSpec | undefined): readonly Part[] {
  const parts: Part[] = []
  for (let at = 0; at < typed.length; at++) {
    const word = typed[at] ?? ''
    const found = optionTyped(word, spec)
    if (found === undefined) {
      parts.push({ words: [word] })
      continue
    }
    const { option, former, inline } = found
    const name = nameOf(option.flag).slice(2)
    const isNext = typed[at + 1]?.startsWith('--') === false
    const old = takesValue(former?.flag ?? option.flag)
      ? (inline ?? (isNext ? typed[++at] : undefined) ?? '')
      : undefined
    const value = old === undefined ? undefined : (former?.value?.(old) ?? old)
    const words = value === undefined ? [`--${name}`] : optionWords(name, value)
    parts.push({ words, option: name, ...(value === undefined ? {} : { value }) })
    const implied = former?.implies
    if (implied !== undefined && spec?.options.some(({ flag }) => nameOf(flag) === `--${implied}`))
      parts.push({ words: [`--${implied}`], option: implied })
  }
  const isFirst = ({ option, value }: Part, index: number): boolean =>
    option === undefined || value !== undefined || parts.findIndex((one) => one.option === option) === index
  return parts.filter(isFirst)
}

/** A value that begins with two dashes is read as an option, unless `=` ties it to its own. */
function optionWords(name: string, value: string): readonly string[] {
  return value.startsWith('--') ? [`--${name}=${value}`] : [`--${name}`, value]
}

/** Of several values one was mistyped: the others stay. Where none is near to the new one, it stands for all of them. */
function corrected(typed: readonly string[], value: string): readonly string[] {
  const mistyped = typed.length > 1 ? nearestWord(value, typed) : undefined
  return mistyped === undefined ? [value] : typed.map((one) => (one === mistyped ? value : one))
}
