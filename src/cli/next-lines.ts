// Over 300 lines: every next step that another command prints, as this one means it.
import { basename, join } from 'node:path'
import { casesOfName, packagesWith } from '../errors/above.ts'
import { caseStepFromHere } from '../errors/case-steps.ts'
import { printedPath } from '../errors/here.ts'
import { HarvestError, shellWord } from '../errors/index.ts'
import { shellWords } from '../errors/words.ts'
import type { Screen } from '../report/output.ts'
import { type CommandInput, type CommandSpec, program } from './command.ts'
import {
  dirOption,
  inFolderOfPaths,
  type NamedTape,
  namedTapes,
  pathWord,
  recordingsFolder,
  tapeWord,
} from './named-tape.ts'
import { nameOf, parse, specNamed, takesValue } from './parse.ts'
import { specs } from './spec/index.ts'
import { type OptionChanges, presentOf, typedAgain, typedInstead, typedValues, typedWords } from './typed-again.ts'

/**
 * A next step as the command to paste. Rooms below know which option helps, and a tape by its id; only here is known what
 * was typed:
 *
 * - options alone, `→ to allow more: --max-cost 5`, are what was typed, with those;
 * - `→ to go on: the same command` is what was typed; `…, without --tail and --live`: but for these; `…, with 'a b'`: with
 *   these arguments instead;
 * - `→ did you mean: refund instead of refnd` is what was typed, with that word corrected;
 * - a command, `→ to read it: npx vitest-harvest show <tape>`, names the tape by a word that finds it, in the same folder.
 *
 * @returns `undefined` of options that the command does not have: rooms below do not know which one runs
 */
export function asCommand(line: string, running: CommandSpec | undefined): string | undefined {
  if (!/^(?:\u001b\[[\d;]*m)*\s*→ /.test(line)) return line
  const [, text = '', end = ''] = /^(.*?)((?:\u001b\[[\d;]*m)*)$/s.exec(line) ?? []
  const [, beside, unset, args] =
    /^(.*?: )the same command(?:, without (--[a-z-]*(?: and --[a-z-]+)*))?(?:, with (.+))?$/.exec(text) ?? []
  if (beside !== undefined) {
    const without = unset?.split(' and ').map((word) => [word.slice(2), false] as const) ?? []
    return `${beside}${typedAgain(Object.fromEntries(without), argumentsIn(args))}${end}`
  }
  const [, asked, meant, old] = /^(.*?→ did you mean: )((?!--).+) instead of (.+)$/.exec(text) ?? []
  if (asked !== undefined) {
    const corrected = typedInstead(wordIn(old), wordIn(meant))
    return corrected === undefined ? line : `${asked}${corrected}${end}`
  }
  const spec = presentOf(running)
  if (spec === undefined) return line
  const [, about, options] = /^(.*?→ .*?[:?] )(--[a-z].*)$/.exec(text) ?? []
  if (text.includes(': prices: {')) return pricesInFile(line, spec)
  if (options !== undefined && isOfAnother(options, spec)) return undefined
  const changes = options === undefined ? undefined : changesIn(options, spec)
  if (changes !== undefined) return `${about}${typedAgain(changes)}${end}`
  const at = text.indexOf(`${program} `)
  if (at === -1) return line
  const renewed = updateOf(text, end)
  if (renewed !== undefined) return renewed
  const next = forWhatWasNamed(text.slice(at + program.length + 1))
  return next === undefined ? line : `${text.slice(0, at)}${program} ${next}${end}`
}

/** `a 'b c'`, or `no argument`. */
function argumentsIn(text: string | undefined): readonly string[] | undefined {
  return text === undefined ? undefined : text === 'no argument' ? [] : shellWords(text).words
}

/** `'a b'` as it is meant. */
function wordIn(text = ''): string {
  return shellWords(text).words[0] ?? ''
}

/** From code prices are an option, and to a command a file of the recordings. */
function pricesInFile(line: string, { passThrough }: CommandSpec): string {
  const { value, rest = [] } = typedInput() ?? {}
  // A proof reads its own options of what is handed on.
  const [, tied, apart] = (passThrough === true && /(?:^|\0)--dir(?:=([^\0]*)|\0([^\0]*))/.exec(rest.join('\0'))) || []
  const file = printedPath(join(tied ?? apart ?? value?.('dir') ?? 'recordings', 'prices.json'))
  return line.replace(': prices: {', `: ${file}: {`)
}

/** The same of each line. */
export function asCommands(text: string, spec: CommandSpec | undefined): string {
  if (!text.includes('→ ')) return text
  return text
    .split('\n')
    .flatMap((line) => asCommand(line, spec) ?? [])
    .join('\n')
}

/** The next commands of what is printed, for programs. */
export function nextCommands(print: (shown: Screen) => void, spec: CommandSpec, screen: Screen): readonly string[] {
  const lines: string[] = []
  const hear = (text = ''): void => void lines.push(...text.split('\n'))
  print(withNextCommands({ ...screen, line: hear, note: hear, progress: () => {} }, spec))
  // Painted lines are found by what they say; what was said before a question may be said of its answer too.
  return [...new Set(lines.flatMap((line) => /→ .*?((?:[A-Z_]+=1 )?npx [^\u001b]*)/.exec(line)?.[1] ?? []))]
}

/** Where an answer goes to. */
export interface Asker {
  readonly given: CommandInput
  readonly spec: CommandSpec
  readonly screen: Screen
  /** What was said to people before. */
  readonly said?: Iterable<string>
}

/** An answer for people, or for programs: with the same next commands. */
export function printAnswer(
  answer: object,
  print: (shown: Screen) => void,
  { given, spec, screen, said = [] }: Asker,
): void {
  if (!given.has('json')) return print(screen)
  const all = (shown: Screen): void => {
    for (const line of said) shown.note(line)
    print(shown)
  }
  screen.json({ ...answer, next: nextCommands(all, spec, screen) })
}

/** An error for programs: its next steps are the commands that people are shown. */
export function withCommands(error: HarvestError, spec: CommandSpec | undefined): ReturnType<HarvestError['toJSON']> {
  const { facts, ...rest } = error.toJSON()
  const fix = facts.fix === undefined ? undefined : stepsAsCommands(facts.fix, spec)
  return {
    ...rest,
    message: asCommands(rest.message, spec),
    facts: { ...facts, ...(fix === undefined ? {} : { fix }) },
  }
}

/** Steps without their arrows. */
export function stepsAsCommands(steps: readonly string[], spec: CommandSpec | undefined): readonly string[] {
  return steps.flatMap((step) => asCommand(`→ ${step}`, spec)?.slice(2) ?? [])
}

/** A screen whose next steps can be pasted. */
export function withNextCommands(screen: Screen, spec: CommandSpec): Screen {
  return {
    ...screen,
    line: (text = '') => screen.line(asCommands(text, spec)),
    note: (text) => screen.note(asCommands(text, spec)),
  }
}

/**
 * Of `--max-tokens 100000, without --max-cost`. `undefined` where the text says more than options of this command:
 * examples, sentences.
 */
function changesIn(text: string, spec: CommandSpec): OptionChanges | undefined {
  const [, set = '', old, unset = ''] =
    /^(.*?)(?: instead of (.+?))?(?:, without (--[a-z-]+(?: and --[a-z-]+)*))?$/.exec(text) ?? []
  const optionOf = (word: string) => spec.options.find(({ flag }) => nameOf(flag) === word)
  const changes: Record<string, OptionChanges[string]> = {}
  for (const [word] of unset.matchAll(/--[a-z-]+/g))
    changes[word.slice(2)] = takesValue(optionOf(word)?.flag ?? '') ? undefined : false
  const words = [...shellWords(set).words]
  while (words.length > 0) {
    const word = words.shift() ?? ''
    const option = optionOf(word)
    const name = word.slice(2)
    if (option === undefined || (name in changes && option.many !== true)) return undefined
    const value = takesValue(option.flag) ? words.shift() : true
    if (value === undefined) return undefined
    const before = changes[name]
    changes[name] = before === undefined || value === true ? value : [before, value].flat().map(String)
    if (old !== undefined && value !== true) changes[name] = instead(shellWords(old).words[0] ?? '', value, name)
  }
  return changes
}

/** Of an option that was given several times one value is another one: the others stay. */
function instead(old: string, value: string, name: string): readonly string[] {
  const typed = typedValues(name)
  const at = typed.includes(old) ? typed.indexOf(old) : typed.findIndex((one) => one.includes(old))
  return at === -1 ? [value] : typed.with(at, value)
}

/** Whether these are options that other commands have, and this one does not. */
function isOfAnother(options: string, spec: CommandSpec): boolean {
  const [word] = /^--[a-z-]+/.exec(options) ?? []
  const isTaken = spec.passThrough === true || spec.options.some(({ flag }) => nameOf(flag) === word)
  return !isTaken && specs.some((other) => changesIn(options, other) !== undefined)
}

/** An argument that is a tape or a case. */
const isTape = /^[<[](?:tape|case)/

/** Options that say which recordings and which agent are meant: what follows means the same. */
const subject = ['dir', 'agent', 'module'] as const

/** A command line of ours, without the name of the program; `undefined` where it stays as it is. */
function forWhatWasNamed(command: string): string | undefined {
  const { words, unclosed } = shellWords(command)
  const spec = specNamed(words, specs)
  if (unclosed !== undefined || spec === undefined || words.includes('--help')) return undefined
  const typed = typedInput()
  if (typed === undefined) return undefined
  if (spec.passThrough === true) return testOfNamed(command, words[1] ?? '', typed.value('dir'))
  const takes = (option: string): boolean => spec.options.some(({ flag }) => nameOf(flag) === `--${option}`)
  const place = spec.name.split(' ').length
  const slot = spec.args?.split(' ')[0] ?? ''
  const tape = wordOf(words[place] ?? '', slot, takes('dir'), typed.value('dir'))
  const more = subject.flatMap((option) => {
    const value = typed.value(option)
    if (value === undefined || !takes(option) || words.includes(`--${option}`)) return []
    // Of a list of tapes it is a filter.
    if (option !== 'dir' && !isTape.test(slot)) return []
    return [option === 'dir' ? dirOption(value) : ` --${option} ${shellWord(value)}`]
  })
  // What stands there is kept as it is written: `<id>`, `"…"`.
  return (
    (tape === undefined ? command : replaceWord(command, place, tape)) + [...more, ...gradedAlike(spec, words)].join('')
  )
}

/**
 * An update of the case whose tape was named. That of a run without a case has no baseline to renew. `undefined` of other
 * steps, and where it is unknown which run is meant.
 */
function updateOf(text: string, end: string): string | undefined {
  const [, about, rest] = /^(.*?: )npx vitest-harvest test '<case>' (--update-recordings.*)$/s.exec(text) ?? []
  const own = tapeOfCommand()
  if (about === undefined || own === undefined) return undefined
  if (own.caseId === undefined) return `${about}record the run again${end}`
  const command = ['test', shellWord(own.caseId), rest].join(' ')
  const next = forWhatWasNamed(command) ?? command
  return `${about}${program} ${next}${end}`
}

/** `test <case>`: Vitest is asked for its file, where the name is not enough. */
function testOfNamed(command: string, name: string, dir?: string): string | undefined {
  const recordings = recordingsFolder(dir)
  const [found, ...others] = casesOfName(recordings, name)
  if (found === undefined || others.length > 0) return undefined
  const about = {
    file: join(recordings, found),
    recordings,
    hasPackages: packagesWith([basename(recordings)]).length > 0,
  }
  return caseStepFromHere([program, command].join(' '), name, about).slice(program.length + 1)
}

/** Options that say what a good run is. */
const graders = ['ok', 'bad', 'oracle'] as const

/** A fix is right by what was said to be right. What a case was promoted with, it has by itself. */
function gradedAlike({ name }: CommandSpec, words: readonly string[]): readonly string[] {
  const running = specNamed(typedWords(), specs)?.name
  if (name !== 'fix' || running === 'fix' || running === 'promote') return []
  if (graders.some((option) => words.includes(`--${option}`))) return []
  return graders.flatMap((option) => typedValues(option).map((value) => ` --${option} ${shellWord(value)}`))
}

/** `undefined` of what the parser refuses: its message names what was typed by itself. */
function typedInput(): CommandInput | undefined {
  try {
    const parsed = parse(typedWords(), specs)
    return parsed.kind === 'run' ? inFolderOfPaths(parsed.given, parsed.spec) : undefined
  } catch (error) {
    if (HarvestError.is(error)) return undefined
    throw error
  }
}

/** What finds the tape that a command names, as its id or as `<tape>`; `undefined` where that is another one. */
function wordOf(said: string, slot: string, takesDir: boolean, dir: string | undefined): string | undefined {
  // The case that is made now is called so, no matter what its tape is called.
  if (!isTape.test(slot) || typedValues('as').includes(said)) return undefined
  const own = tapeOfCommand()
  const isOpen = own !== undefined && isOpenPlace(said)
  const named = isOpen ? own : namedTapes().find((one) => one.isCalled(said))
  if (named === undefined) return isOpenPlace(said) && said !== '<case>' ? typedTape() : undefined
  if (!takesDir && dirOption(dir) !== '') return pathWord(named.file)
  if (named.caseId !== undefined && slot.includes('case')) return shellWord(named.word)
  if (!slot.includes('tape') || said === '<case>' || (!isOpen && named.isFoundBy(said))) return undefined
  // `latest` may be another one by then.
  const isName = named.caseId === undefined && named.word !== 'latest' && named.isFoundBy(named.word)
  return isName ? shellWord(named.word) : tapeWord(named.file, dir)
}

function isOpenPlace(said: string): boolean {
  return ['<tape>', '<tape|case>', '<case>', '<id>'].includes(said)
}

/** The one tape that was typed, where nothing was looked up yet. */
function typedTape(): string | undefined {
  const spec = specNamed(typedWords(), specs)
  const [typed, ...more] = typedInput()?.args ?? []
  const isOne = typed !== undefined && more.length === 0 && namedTapes().length === 0
  return isOne && isTape.test(spec?.args ?? '') ? shellWord(typed) : undefined
}

/** The tape that the command is about: others are named by options. */
function tapeOfCommand(): NamedTape | undefined {
  const named = namedTapes()
  if (named.length <= 1) return named[0]
  const [argument, ...more] = typedInput()?.args ?? []
  return more.length === 0 ? named.find(({ word }) => word === argument) : undefined
}

/** A command line with another word in one place. */
function replaceWord(command: string, place: number, word: string): string {
  const one = [...command.matchAll(/(?:\$'(?:[^'\\]|\\.)*'|'[^']*'|"(?:[^"\\]|\\.)*"|\\.|[^\s'"\\])+/g)][place]
  return one === undefined ? command : command.slice(0, one.index) + word + command.slice(one.index + one[0].length)
}
