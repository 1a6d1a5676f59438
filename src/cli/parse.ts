import { cac, type CAC } from 'cac'
import { HarvestError, neutralLine, nearestWord } from '../errors/index.ts'
import { version } from '../version.ts'
import type { CommandSpec, Given } from './command.ts'

/** What to do: run a command with what it was given, or nothing more because help or the version was printed. */
export type Asked = { readonly command: CommandSpec; readonly given: Given } | 'answered'

/**
 * Reads the command line. A word nobody knows is an error with the nearest known one, never ignored.
 *
 * @param argv - what follows `harvest`
 * @throws HarvestError `HARVEST_CLI_COMMAND`, `HARVEST_CLI_OPTION`, `HARVEST_CLI_ARGUMENT`
 */
export function parse(argv: readonly string[], commands: readonly CommandSpec[]): Asked {
  const cli = describe(commands)
  const stop = argv.indexOf('--')
  const words = stop === -1 ? argv : argv.slice(0, stop)
  const name = nameIn(argv)
  const command = commands.find((one) => one.name === name)
  if (name !== undefined && command === undefined) throw unknownCommand(name, commands)
  if (command?.passThrough === true && !isHelp(words.slice(0, 2))) return { command, given: handOn(argv, command) }
  checkOptions(words, command)

  cli.parse(['node', 'harvest', ...protect(words)], { run: false })
  // cac has printed help or the version, and then it forgets the command.
  if (isHelp(words) || (command === undefined && isVersion(words))) return 'answered'
  if (command === undefined) {
    cli.outputHelp()
    return 'answered'
  }
  const rest = stop === -1 ? undefined : argv.slice(stop + 1)
  return { command, given: check(command, bare(cli.args), bare(cli.options), rest) }
}

/** The first word that is no option: it names the command. */
export function nameIn(argv: readonly string[]): string | undefined {
  const stop = argv.indexOf('--')
  return (stop === -1 ? argv : argv.slice(0, stop)).find((word) => !word.startsWith('-'))
}

function describe(commands: readonly CommandSpec[]): CAC {
  const cli = cac('harvest')
  for (const { name, args, about, options, rest, examples } of commands) {
    const command = cli.command(args === undefined ? name : `${name} ${args}`, about)
    command.usage([name, args, '[options]', rest].filter((word) => word !== undefined).join(' '))
    for (const { flag, about: text } of options) command.option(flag, text)
    for (const example of examples) command.example(`  $ harvest ${example}`)
  }
  cli.help((sections) => sections.filter(({ title }) => title === undefined || !title.startsWith('For more info')))
  cli.version(version)
  return cli
}

// cac reads 007 as the number 7 and 1e3 as 1000. No argument of a program can hold a NUL, so it marks what must stay text.
const mark = '\0'

function protect(words: readonly string[]): string[] {
  return words
    .map((word) => (word.startsWith('-') ? word.replace(/=(?=.)/, `=${mark}`) : `${mark}${word}`))
    .map(unmarkCommand)
}

/** The first word that is no option names the command; cac compares it as it stands. */
function unmarkCommand(word: string, at: number, words: readonly string[]): string {
  return at === words.findIndex((one) => !one.startsWith('-')) ? word.replace(mark, '') : word
}

function bare<T>(value: T): T {
  if (typeof value === 'string') return value.replaceAll(mark, '') as T
  if (Array.isArray(value)) return value.map(bare) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, bare(one as unknown)])) as T
}

/** What stands before the name is for nobody. */
function handOn(argv: readonly string[], command: CommandSpec): Given {
  const at = argv.indexOf(command.name)
  if (at > 0) throw usage(command, 'HARVEST_CLI_ARGUMENT', `${neutralLine(argv[0] ?? '')} stands before the command`)
  return { args: [], rest: argv.slice(1), value: () => undefined, values: () => [], has: () => false }
}

function isHelp(words: readonly string[]): boolean {
  return words.some((word) => ['--help', '-h'].includes(word))
}

function isVersion(words: readonly string[]): boolean {
  return words.some((word) => ['--version', '-v'].includes(word))
}

/** Looks at the words as they were typed: cac passes over `--__proto__=1`, `--a.b` and `--no-json`. */
function checkOptions(words: readonly string[], command: CommandSpec | undefined): void {
  const known = [
    ...(command?.options ?? []).map(({ flag }) => flagOf(flag)),
    '--help',
    '-h',
    ...(command ? [] : ['--version', '-v']),
  ]
  for (const word of words) {
    if (!word.startsWith('-')) continue
    const typed = word.split('=', 1)[0] ?? word
    if (!known.includes(typed)) throw unknownOption(typed, known, command)
    const takesValue = command?.options.some(({ flag }) => flagOf(flag) === typed && flag.includes('<')) === true
    if (command !== undefined && word.includes('=') && !takesValue)
      throw usage(command, 'HARVEST_CLI_OPTION', `${typed} takes no value`)
  }
}

function check(
  command: CommandSpec,
  args: readonly string[],
  options: Readonly<Record<string, unknown>>,
  rest: Given['rest'],
): Given {
  const values = new Map<string, readonly unknown[]>()
  for (const { flag, many } of command.options) {
    const name = flagOf(flag).slice(2)
    const value = valueOf(name, options)
    if (value === undefined) continue
    const given = Array.isArray(value) ? (value as unknown[]) : [value]
    if (given.length > 1 && many !== true)
      throw usage(command, 'HARVEST_CLI_OPTION', `--${name} was given more than once`)
    const wantsValue = flag.includes('<')
    if (given.some((one) => (typeof one === 'string') !== wantsValue)) {
      throw usage(
        command,
        'HARVEST_CLI_OPTION',
        wantsValue ? `--${name} was given without a value` : `--${name} takes no value`,
      )
    }
    values.set(name, given)
  }
  const slots = (command.args ?? '').split(' ').filter((slot) => slot !== '')
  const isVariadic = slots.at(-1)?.includes('...') === true
  const extra = isVariadic ? [] : args.slice(slots.length)
  if (extra.length > 0) {
    const hint =
      command.rest === undefined ? [] : [`put -- before the program: harvest ${command.name} -- ${args.join(' ')}`]
    throw usage(
      command,
      'HARVEST_CLI_ARGUMENT',
      `harvest ${command.name} does not know what to do with '${neutralLine(extra.join(' '))}'`,
      hint,
    )
  }
  const missing = slots.slice(args.length).filter((slot) => slot.startsWith('<'))
  if (missing.length > 0)
    throw usage(command, 'HARVEST_CLI_ARGUMENT', `harvest ${command.name} needs ${missing.join(' ')}`)
  if (rest !== undefined && command.rest === undefined) {
    throw usage(command, 'HARVEST_CLI_ARGUMENT', `harvest ${command.name} takes nothing behind --`)
  }
  return {
    args,
    rest,
    value: (name) => values.get(name)?.[0] as string | undefined,
    values: (name) => (values.get(name) ?? []) as readonly string[],
    has: (name) => values.has(name),
  }
}

/** cac reads `--no-content` as the value false of `content`, which is true when nobody says so. */
function valueOf(name: string, options: Readonly<Record<string, unknown>>): unknown {
  const camel = (word: string): string => word.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
  if (!name.startsWith('no-')) return options[camel(name)]
  return options[camel(name.slice('no-'.length))] === false ? true : undefined
}

/** `--dir <folder>` → `--dir`. */
function flagOf(flag: string): string {
  return flag.split(' ', 1)[0] ?? flag
}

function unknownCommand(word: string, commands: readonly CommandSpec[]): HarvestError {
  const names = commands.map(({ name }) => name)
  const nearest = nearestWord(word, names)
  return new HarvestError('HARVEST_CLI_COMMAND', {
    what: `harvest has no command '${neutralLine(word, 40)}'`,
    where: { commands: names.join(', ') },
    fix: [...(nearest === undefined ? [] : [`did you mean: harvest ${nearest}`]), 'for all of them: harvest --help'],
  })
}

function unknownOption(word: string, known: readonly string[], command: CommandSpec | undefined): HarvestError {
  const nearest = nearestWord(word, known)
  const called = command === undefined ? 'harvest' : `harvest ${command.name}`
  return new HarvestError('HARVEST_CLI_OPTION', {
    what: `${called} has no option '${neutralLine(word, 40)}'`,
    where: { options: known.join(', ') },
    why: 'An option that is not known is refused, so that a typo never changes what is run.',
    fix: [...(nearest === undefined ? [] : [`did you mean: ${nearest}`]), `for all of them: ${called} --help`],
  })
}

/** What was typed cannot be run. */
export function usage(command: CommandSpec, code: string, what: string, hints: readonly string[] = []): HarvestError {
  const example = command.examples[0]
  return new HarvestError(code, {
    what,
    fix: [
      ...hints,
      ...(example === undefined ? [] : [`for instance: harvest ${example}`]),
      `to see all: harvest ${command.name} --help`,
    ],
  })
}
