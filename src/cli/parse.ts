// Over 300 lines: all that is refused of a command line.
import { parseArgs } from 'node:util'
import { type ErrorCode, HarvestError, neutralLine, nearestWord, shellWord } from '../errors/index.ts'
import { type CommandSpec, type FormerOption, type CommandInput, type OptionSpec, program } from './command.ts'

/** A command line: a command and what it was given, or a request for help. */
export type ParsedCommand =
  | {
      readonly kind: 'run'
      readonly spec: CommandSpec
      readonly given: CommandInput
      readonly hints: readonly string[]
    }
  | { readonly kind: 'help'; readonly spec?: CommandSpec }
  | { readonly kind: 'version' }

/**
 * Reads the command line. An unknown word is an error with the nearest known one, never ignored.
 *
 * @param given - what follows the name of the program
 * @throws HarvestError `HARVEST_CLI_COMMAND`, `HARVEST_CLI_OPTION`, `HARVEST_CLI_ARGUMENT`
 */
export function parse(given: readonly string[], specs: readonly CommandSpec[]): ParsedCommand {
  const name = nameIn(given)
  const spec = specNamed(given, specs)
  const argv = inLongNames(given, spec)
  if (name !== undefined && spec === undefined) throw unknownCommand(name, argv, specs)
  const words = twoWords(argv)
  if (spec?.name === 'tapes' && argv[1] !== undefined && !argv[1].startsWith('-'))
    throw unknownCommand(words, argv, specs)
  if (spec?.passThrough === true && !isHelp(argv.slice(0, 2)))
    return { kind: 'run', spec, given: handOn(argv, spec), hints: [] }
  const { tokens } = tokenize(argv, spec)
  const end = tokens.find(({ kind }) => kind === 'option-terminator')
  const typed = end === undefined ? tokens : tokens.filter(({ index }) => index < end.index)
  const options = typed.filter((token) => token.kind === 'option')
  const renamed = underNewName(options, argv, spec, specs)
  if (renamed !== undefined) return renamed
  checkNames(options, argv, spec)
  if (options.some(({ rawName }) => isHelp([rawName]))) return { kind: 'help', ...(spec === undefined ? {} : { spec }) }
  if (spec === undefined)
    return options.some(({ rawName }) => isVersion(rawName)) ? { kind: 'version' } : { kind: 'help' }
  const { values, hints } = valuesOf(options, spec)
  const positionals = typed.filter((token) => token.kind === 'positional').map(({ value }) => value)
  const rest = end === undefined ? undefined : argv.slice(end.index + 1)
  return {
    kind: 'run',
    spec,
    given: check(spec, positionals.slice(spec.name.split(' ').length), values, rest),
    hints: [...commandHint(spec), ...hints],
  }
}

/** The command that a line names. */
export function specNamed(given: readonly string[], specs: readonly CommandSpec[]): CommandSpec | undefined {
  const name = nameIn(given)
  return specs.find((one) => one.name === twoWords(given)) ?? specs.find((one) => one.name === name)
}

/** The option that a word of a command line is, however it is spelled; `inline`: its value, behind `=`. */
export function optionTyped(
  word: string,
  spec: CommandSpec | undefined,
): { readonly option: OptionSpec; readonly former?: FormerOption; readonly inline?: string } | undefined {
  if (spec === undefined) return undefined
  const [, name = '', inline] = /^(--[^=]+)(?:=([^]*))?$/.exec(inLongNames([word], spec)[0] ?? '') ?? []
  const found = name === '' ? undefined : namedIn(name, spec)
  // What is handed on is not ours to spell, but for the options that are read with a value.
  const isHandedOn = spec.passThrough === true && found !== undefined && !takesValue(found.option.flag)
  return found === undefined || isHandedOn ? undefined : { ...found, ...(inline === undefined ? {} : { inline }) }
}

/** One-letter options by their names. */
function inLongNames(given: readonly string[], spec: CommandSpec | undefined): readonly string[] {
  const short = new Map(
    (spec?.options ?? []).flatMap((option) =>
      option.short === undefined ? [] : [[option.short, nameOf(option.flag)] as const],
    ),
  )
  const stop = given.indexOf('--')
  return given.map((word, at) => (stop === -1 || at < stop ? (short.get(word) ?? word) : word))
}

/** `tapes rm`: a command of a group. */
function twoWords(argv: readonly string[]): string {
  return argv.slice(0, 2).join(' ')
}

/** The first word that is not an option: it names the command. */
export function nameIn(argv: readonly string[]): string | undefined {
  const stop = argv.indexOf('--')
  return (stop === -1 ? argv : argv.slice(0, stop)).find((word) => !word.startsWith('-'))
}

interface OptionToken {
  readonly index: number
  readonly rawName: string
  readonly value: string | undefined
  readonly inlineValue: boolean | undefined
}

function tokenize(argv: readonly string[], spec: CommandSpec | undefined) {
  const flags = (spec?.options ?? []).flatMap(({ flag, was = [] }) => [flag, ...was.map((one) => one.flag)])
  const known = flags.map((flag) => [nameOf(flag).slice(2), { type: takesValue(flag) ? 'string' : 'boolean' }] as const)
  return parseArgs({
    args: [...argv],
    options: Object.fromEntries(known),
    // Not strict: its errors name no nearest option, and it refuses `--clock -30m`.
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
}

function checkNames(options: readonly OptionToken[], argv: readonly string[], spec: CommandSpec | undefined): void {
  const flags = (spec?.options ?? []).filter(({ hidden }) => hidden !== true).map(({ flag }) => nameOf(flag))
  const former = (spec?.options ?? [])
    .flatMap(({ flag, was = [] }) => [flag, ...was.map((one) => one.flag)])
    .map(nameOf)
  const shown = [...flags, '--help', '-h', ...(spec === undefined ? ['--version', '-v'] : [])]
  for (const { rawName, index } of options)
    if (!shown.includes(rawName) && !former.includes(rawName))
      throw unknownOption({ word: rawName, index, argv }, shown, spec)
}

/** An earlier name with an option that only the command of today has: it is that command. */
function underNewName(
  options: readonly OptionToken[],
  argv: readonly string[],
  spec: CommandSpec | undefined,
  specs: readonly CommandSpec[],
): ParsedCommand | undefined {
  if (spec?.now === undefined) return undefined
  const words = spec.now.split(' ')
  const now = specNamed(words, specs)
  const isNew = ({ rawName }: OptionToken): boolean => namedIn(rawName, spec) === undefined
  if (now === undefined || !options.some((one) => isNew(one) && namedIn(one.rawName, now) !== undefined))
    return undefined
  const at = argv.indexOf(spec.name)
  const parsed = parse([...words, ...argv.slice(0, at), ...argv.slice(at + 1)], specs)
  return parsed.kind === 'run' ? { ...parsed, hints: [...commandHint(spec), ...parsed.hints] } : parsed
}

interface Values {
  readonly values: ReadonlyMap<string, readonly string[]>
  readonly hints: readonly string[]
}

function valuesOf(options: readonly OptionToken[], spec: CommandSpec): Values {
  const values = new Map<string, readonly string[]>()
  const hints = new Set<string>()
  for (const { rawName, value, inlineValue } of options) {
    const { option, former } = optionNamed(rawName, spec)
    const flag = former?.flag ?? option.flag
    const name = nameOf(option.flag).slice(2)
    if (takesValue(flag) && isMissing(value, inlineValue))
      throw usage(spec, 'HARVEST_CLI_OPTION', `${rawName} needs a value: ${flag}`, otherValue(option, ''))
    if (!takesValue(flag) && value !== undefined)
      throw usage(spec, 'HARVEST_CLI_OPTION', `${rawName} takes no value`, [`without one: --${name}`])
    const before = values.get(name) ?? []
    if (before.length > 0 && option.many !== true)
      throw usage(spec, 'HARVEST_CLI_OPTION', `--${name} was given more than once`, onceEach(option, before, value))
    values.set(name, [...before, former?.value?.(value ?? '') ?? value ?? ''])
    if (former === undefined) continue
    if (former.implies !== undefined && spec.options.some((one) => nameOf(one.flag) === `--${former.implies}`))
      values.set(former.implies, values.get(former.implies) ?? [''])
    hints.add(optionHint(rawName, option, former, spec))
  }
  return { values, hints: [...hints] }
}

/** What is typed where a value does not fit: what stands for one, and where the option has a default, nothing. */
function otherValue({ flag, about, many }: OptionSpec, given: string): readonly string[] {
  const name = nameOf(flag)
  const place = many === true ? ` instead of ${shellWord(given)}` : ''
  return [
    `with ${given === '' ? 'one' : 'another'}: ${name} ${shellWord(flag.slice(name.length + 1))}${place}`,
    ...(/\[.+\]$/.test(about) ? [`for its default: the same command, without ${name}`] : []),
  ]
}

function onceEach({ flag }: OptionSpec, before: readonly string[], value: string | undefined): readonly string[] {
  const name = nameOf(flag)
  if (value === undefined) return [`once: ${name}`]
  return [...new Set([...before, value])].map((one) => `with one of them: ${name} ${shellWord(one)}`)
}

/** A value that begins with two dashes is the next option. */
function isMissing(value: string | undefined, isInline: boolean | undefined): boolean {
  return value === undefined || value === '' || (isInline !== true && value.startsWith('--'))
}

function optionNamed(rawName: string, spec: CommandSpec): NamedOption {
  const found = namedIn(rawName, spec)
  if (found === undefined) throw new TypeError(`${rawName} was checked before`)
  return found
}

interface NamedOption {
  readonly option: OptionSpec
  readonly former?: FormerOption
}

function namedIn(rawName: string, spec: CommandSpec): NamedOption | undefined {
  const now = spec.options.find(({ flag }) => nameOf(flag) === rawName)
  if (now !== undefined) return { option: now }
  for (const option of spec.options) {
    const former = option.was?.find(({ flag }) => nameOf(flag) === rawName)
    if (former !== undefined) return { option, former }
  }
  return undefined
}

function optionHint(rawName: string, { flag }: OptionSpec, { implies }: FormerOption, spec: CommandSpec): string {
  const hasConsent = spec.options.some((one) => nameOf(one.flag) === `--${implies}`)
  return `hint: ${rawName} is now ${hasConsent ? `--${implies} ` : ''}${nameOf(flag)}`
}

function commandHint({ name, now }: CommandSpec): readonly string[] {
  return now === undefined ? [] : [`hint: ${name} is now ${program} ${now}`]
}

function handOn(argv: readonly string[], spec: CommandSpec): CommandInput {
  if (argv[0] !== spec.name)
    throw usage(spec, 'HARVEST_CLI_ARGUMENT', `Unexpected '${neutralLine(argv[0] ?? '')}' before the command name`, [
      `behind it: ${commandOf([spec.name, ...argv.filter((word) => word !== spec.name)])}`,
    ])
  return { args: [], rest: argv.slice(1), value: () => undefined, values: () => [], has: () => false }
}

function isHelp(words: readonly string[]): boolean {
  return words.some((word) => word === '--help' || word === '-h')
}

function isVersion(word: string): boolean {
  return word === '--version' || word === '-v'
}

function check(
  spec: CommandSpec,
  args: readonly string[],
  values: ReadonlyMap<string, readonly string[]>,
  rest: CommandInput['rest'],
): CommandInput {
  const slots = (spec.args ?? '').split(' ').filter((slot) => slot !== '')
  const isVariadic = slots.at(-1)?.includes('...') === true
  const extra = isVariadic ? [] : args.slice(slots.length)
  if (extra.length > 0) {
    const words = neutralLine(extra.join(' '))
    const hint =
      spec.rest === undefined
        ? [`without: the same command, with ${args.slice(0, slots.length).map(shellWord).join(' ') || 'no argument'}`]
        : [`put -- before the program: ${program} ${spec.name} -- ${runnable(args).map(shellWord).join(' ')}`]
    throw usage(spec, 'HARVEST_CLI_ARGUMENT', `Unexpected argument of ${spec.name}: '${words}'`, hint)
  }
  const missing = slots.slice(args.length).filter((slot) => slot.startsWith('<'))
  if (missing.length > 0)
    throw usage(spec, 'HARVEST_CLI_ARGUMENT', `${spec.name} needs ${missing.join(' ')}`, toName(missing, args))
  if (rest !== undefined && spec.rest === undefined)
    throw usage(spec, 'HARVEST_CLI_ARGUMENT', `${spec.name} takes nothing after --`, [
      'without: the same command, without --',
    ])
  for (const name of values.keys()) {
    const other = excludedBy(name, spec).find((one) => values.has(one))
    if (other === undefined) continue
    const hints = [other, name].map((one) => `to leave --${one} out: the same command, without --${one}`)
    throw usage(spec, 'HARVEST_CLI_ARGUMENT', `--${name} and --${other} exclude each other`, hints)
  }
  return {
    args,
    rest,
    value: (name) => values.get(name)?.[0],
    values: (name) => values.get(name) ?? [],
    has: (name) => values.has(name),
  }
}

/** A script is run by Node. */
function runnable(words: readonly string[]): readonly string[] {
  return /\.[cm]?[jt]s$/.test(words[0] ?? '') ? ['node', ...words] : words
}

/** How to name arguments that are missing, beside those that are there. */
export function toName(missing: readonly string[], args: readonly string[] = []): readonly string[] {
  const words = [...args, ...missing.map((slot) => slot.replace(/^[<[](?:\.\.\.)?(.*)[>\]]$/, '<$1>'))]
  const isRun = missing.some((slot) => /tape|case|<[ab]>/.test(slot))
  return [
    ...(isRun ? [`to list them: ${program} ls`] : []),
    `with ${missing.length === 1 ? 'one' : 'them'}: the same command, with ${words.map(shellWord).join(' ')}`,
  ]
}

/** The options that do not stand beside one, whichever of them says so. */
export function excludedBy(name: string, { options }: CommandSpec): readonly string[] {
  return options.flatMap(({ flag, excludes = [] }) => {
    const one = nameOf(flag).slice(2)
    return one === name ? excludes : excludes.includes(name) ? [one] : []
  })
}

/** `--dir <folder>` → `--dir`. */
export function nameOf(flag: string): string {
  return flag.split(' ', 1)[0] ?? flag
}

export function takesValue(flag: string): boolean {
  return flag.includes('<')
}

function unknownCommand(word: string, argv: readonly string[], specs: readonly CommandSpec[]): HarvestError {
  const isGroup = word.startsWith('tapes ')
  const names = specs
    .filter(({ name, group, isApart }) => (isGroup ? name.startsWith('tapes ') : (group ?? isApart) !== undefined))
    .map(({ name }) => name)
  const nearest = nearestWord(word, names)
  const at = argv.indexOf(isGroup ? 'tapes' : word)
  const others = argv.toSpliced(at, isGroup ? 2 : 1)
  return new HarvestError('HARVEST_CLI_COMMAND', {
    what: `Unknown command '${neutralLine(word, 40)}'`,
    where: { commands: names.join(', ') },
    fix: [
      ...(nearest === undefined ? [] : [`did you mean: ${commandOf([...nearest.split(' '), ...others])}`]),
      ...(isGroup ? [] : [`for arguments of Vitest: ${commandOf(['test', ...argv])}`]),
      `for all commands: ${program} --help`,
    ],
  })
}

/** A word of a command line that no option is called. */
interface Stranger {
  readonly word: string
  readonly index: number
  readonly argv: readonly string[]
}

function unknownOption(stranger: Stranger, known: readonly string[], spec: CommandSpec | undefined): HarvestError {
  const { word, argv } = stranger
  const nearest = nearestOption(word, known)
  const called = spec === undefined ? program : `${program} ${spec.name}`
  return new HarvestError('HARVEST_CLI_OPTION', {
    what: `Unknown option '${neutralLine(word, 40)}'${spec === undefined ? '' : ` of ${spec.name}`}`,
    where: { options: known.join(', ') },
    why: 'An unknown option is refused, so that a typo never changes what runs.',
    fix: [
      ...(nearest === undefined ? [] : [`did you mean: ${commandOf(spelled(stranger, nearest, spec))}`]),
      ...(spec === undefined ? [`for options of Vitest: ${commandOf(['test', ...argv])}`] : []),
      `for all options: ${called} --help`,
    ],
  })
}

/** The option of which this is the beginning, or else a misspelling: two dashes make no words alike. */
function nearestOption(word: string, known: readonly string[]): string | undefined {
  if (!word.startsWith('--')) return nearestWord(word, known)
  const [whole, ...others] = known.filter((one) => word.length > 4 && one.startsWith(word))
  if (whole !== undefined && others.length === 0) return whole
  const names = known.filter((one) => one.startsWith('--')).map((one) => one.slice(2))
  const nearest = nearestWord(word.slice(2), names)
  return nearest === undefined ? undefined : `--${nearest}`
}

/** The command line with the option that was meant, and with a word in the place of a missing value. */
function spelled({ word, index, argv }: Stranger, meant: string, spec: CommandSpec | undefined): readonly string[] {
  const flag = spec?.options.find((one) => nameOf(one.flag) === meant)?.flag ?? meant
  const inline = argv[index]?.startsWith(`${word}=`) === true ? argv[index].slice(word.length + 1) : undefined
  if (!takesValue(flag)) return argv.toSpliced(index, 1, meant)
  if (inline !== undefined) return argv.toSpliced(index, 1, `${meant}=${inline}`)
  return argv.toSpliced(index, 1, meant, ...(isMissing(argv[index + 1], false) ? [flag.slice(meant.length + 1)] : []))
}

function commandOf(words: readonly string[]): string {
  return [program, ...words.map(shellWord)].join(' ')
}

/** The error for a value that does not fit its option. */
export function badValue(
  spec: CommandSpec,
  option: string,
  given: string,
  expected: string,
  hints: readonly string[] = [],
): HarvestError {
  const what = `Invalid --${option}: expected ${expected}, got '${neutralLine(given, 40)}'`
  const found = spec.options.find(({ flag }) => nameOf(flag) === `--${option}`)
  const others = found === undefined ? [] : otherValue(found, given)
  return usage(spec, 'HARVEST_CLI_ARGUMENT', what, [...hints, ...others])
}

/**
 * The error for a command line that cannot run.
 *
 * @param hints - what to type instead, made of what was typed: an example would name another tape
 */
export function usage(spec: CommandSpec, code: ErrorCode, what: string, hints: readonly string[] = []): HarvestError {
  return new HarvestError(code, { what, fix: [...hints, `for all options: ${program} ${spec.name} --help`] })
}
