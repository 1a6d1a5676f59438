import { execFileSync } from 'node:child_process'
import { resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { HarvestError, shellWord } from '../../src/errors/index.ts'
import { forgetNamed, noteNamed } from '../../src/cli/named-tape.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { type CommandSpec, program } from '../../src/cli/command.ts'
import { asCommand } from '../../src/cli/next-lines.ts'
import { readTail } from '../../src/cli/forking/ask.ts'
import { nameOf, parse, takesValue } from '../../src/cli/parse.ts'
import { specs } from '../../src/cli/spec/index.ts'
import { typedAgain } from '../../src/cli/typed-again.ts'
import { shellWords } from '../../src/errors/words.ts'
import { every, type Node, Reached } from '../support/reached.ts'

/** A next step as the code has it: options in words, or changes of what was typed. */
interface Step {
  readonly name: string
  readonly isWhole?: true
  render(spec: CommandSpec): string | undefined
}

/** What stands at a place of a text that is no value: options. */
const samples: Readonly<Record<string, string>> = {
  options: '--edit',
  instead: '--max-tokens 100000',
  reference: " --reference '<tape|case>'",
  option: '--max-calls 20',
  allowing: '--allow-secret jwt --allow-secret email',
  moreTime: '--timeout 5m',
  'twiceTheTime(reason)': '--timeout 5m',
  'moreThan(limitMs)': '--timeout 10m',
  'moreThan(watched.limitMs)': '--timeout 10m',
}

/** A line that names options: `to go on: --max-runs 500`. */
function stepOfText(node: Node, code: string): readonly Step[] {
  const isText = node.type === 'TemplateLiteral' || (node.type === 'Literal' && typeof node['value'] === 'string')
  if (!isText) return []
  const text =
    node.type === 'Literal'
      ? (node['value'] as string)
      : code
          .slice(node.start + 1, node.end - 1)
          .replace('? ${option} ', '? --ok ')
          .replace(/(?<!--)\$\{((?:[^{}`]|`[^`]*`|\{[^{}]*\})*)\}/g, (_, one: string) => samples[one] ?? 'x')
  return text.split(/\n|\\n/).flatMap((line) => {
    const [, step] = /^(?:→ )?([a-z][^→`]*?[:?] --[a-z].*)$/.exec(line) ?? []
    return step === undefined ? [] : [{ name: step, render: (spec) => asCommand(`→ ${step}`, spec) }]
  })
}

/** `typedAgain({ live: true, tools: 'live' })`. */
function stepOfCall(node: Node, code: string): readonly Step[] {
  if (node.type !== 'CallExpression' || (node['callee'] as Node)['name'] !== 'typedAgain') return []
  const [given] = node['arguments'] as readonly Node[]
  if (given?.type !== 'ObjectExpression') return []
  const changes = Object.fromEntries(
    every(given).flatMap(({ type, key, value }) => {
      if (type !== 'Property') return []
      const [{ name, value: quoted }, to] = [key as { name?: string; value?: string }, value as Node]
      const isUnset = to.type === 'Identifier' && to['name'] === 'undefined'
      return [
        [quoted ?? name ?? '', isUnset ? undefined : to.type === 'Literal' ? (to['value'] as string | boolean) : 'x'],
      ]
    }),
  )
  const name = code.slice(node.start, node.end).replace(/\s+/g, ' ')
  return [{ name, render: () => `→ x: ${typedAgain(changes)}` }]
}

const word = shellWord('it\'s "a" name')

/** What stands in a whole command: a word that needs quotes, but for what is put together of several. */
const parts: Readonly<Record<string, string>> = {
  program,
  right: " --ok 'refund(amount: 25)'",
  'rightOption(kase)': " --ok '<right>'",
  dir: ` --dir ${word}`,
  'dirOption(dir)': ` --dir ${word}`,
  faults: '--faults http',
  'agentOf(given)': ` --agent ${word}`,
  "isKnown(tape) ? '' : ' --run-recorded'": ' --run-recorded',
  "isSame ? '' : ' --cross-version'": ' --cross-version',
  'shellWord(raw)': 'response',
  words: `promote ${word} --as '<id>' --expect fail`,
  whole: '--raw response > response.bin',
  keys: `--change ${word}`,
  "keys.join(' ')": `--change ${word} --change ${word}`,
}

/** `to read it: npx vitest-harvest show <tape>`, or the command alone: once, whatever is said about it. */
function stepOfCommand(node: Node, code: string): readonly Step[] {
  const isText = node.type === 'Literal' && typeof node['value'] === 'string'
  if (!isText && node.type !== 'TemplateLiteral') return []
  const text = isText
    ? (node['value'] as string)
    : code
        .slice(node.start + 1, node.end - 1)
        .replace(/\$\{((?:[^{}`]|`[^`]*`|\{[^{}]*\})*)\}/g, (_, one: string) => parts[one] ?? word)
  return text.split(/\n|\\n/).flatMap((line) => {
    const [name] = /(?<=^|[:?,] +|→ |then )npx vitest-harvest [^`]*$/.exec(line) ?? []
    return name === undefined ? [] : [{ name, isWhole: true, render: (spec) => asCommand(`→ x: ${name}`, spec) }]
  })
}

/** What people type before: nothing, or each option in each spelling, with values that need quotes. */
function linesOf(spec: CommandSpec): readonly (readonly string[])[] {
  const args = (spec.args ?? '').split(' ').flatMap((slot) => (slot.startsWith('<') ? ['it\'s "a" tape'] : []))
  const flags = spec.options.flatMap(({ flag, was = [] }) => [flag, ...was.map((one) => one.flag)])
  const options = flags.map((flag) => (takesValue(flag) ? [nameOf(flag), 'it\'s "so"'] : [nameOf(flag)]))
  return [[], ...options].map((option) => [...spec.name.split(' '), ...args, ...option])
}

/** Commands that say what follows in a language of their own, or hand words on to Vitest. */
const apart: Readonly<Record<string, string>> = {
  debug: 'its prompt, its server and its protocol name their own commands',
  test: 'what is typed is for Vitest, but for the proof',
  record: 'what is typed is for the program, but for what stands before --',
}

/** Steps of rooms below that a command can reach and does not have the option for: the line is left out. */
const leftOut: Readonly<Record<string, readonly string[]>> = {
  // A case is written with conditions that its run can meet.
  'if a right run has the other type: --any-name': ['promote'],
  // A decision that is set on a tape: other commands set theirs where a model decides.
  'models decide at x: --step x': ['fix', 'check', 'rerun', 'blame', 'isolate', 'chaos'],
  // A value that is set on a tape: other commands set values of their own, which are there.
  "if it is in the answer of a step: --step '<step>'": ['fix', 'blame', 'isolate', 'chaos'],
  "to set all of it: --set 'body=<text>'": ['fix', 'blame', 'isolate', 'chaos'],
  'such as an error of the server: --set status=500 instead of x': ['fix', 'blame', 'isolate', 'chaos'],
  // What is refused of a tape that becomes a case: a fix writes what its run made.
  'if the agent never needs what was left out: --accept-cut': ['fix'],
  'if the agent takes no step: --accept-empty': ['fix'],
  'if it is not a secret: --allow-secret jwt --allow-secret email': ['fix'],
  'to promote it anyway: --accept-unsearched': ['fix', 'check', 'review'],
  "or choose another name: --as '<id>'": [
    'init',
    'export',
    'report',
    'fix',
    'rerun',
    'fork',
    'tapes hold',
    'tapes release',
    'tapes demote',
    'demote',
    'hold',
  ],
  // Blame counts forks and dollars, and says so itself.
  'or limit something else: --max-tokens 100000, without --max-cost': ['blame', 'isolate'],
  // These run an agent as long as its case says.
  'to give it more time: --timeout 10m': ['show', 'report', 'promote'],
  // A fix is graded by each of its runs.
  'to grade every run five times and count the majority: --flaky-oracle': ['fix'],
  // The names that a case holds are those that its fixed agent will know.
  'if only the fixed agent has it: --any-name': ['promote'],
  'if the tool was never called, or only the fixed agent has it: --any-name': ['promote'],
  // Forks are graded by --ok and --bad, which are offered beside it.
  'name one that it has: --oracle x': ['fork'],
  "or on the command line: --oracle '<file#export>'": ['fork'],
  "to grade runs by a function: --oracle '<file#export>'": ['fork'],
  // Another agent goes on in a fork alone.
  'to let it go on where it differs: --step x': ['fix'],
}

describe('a next step, in each command that can print it', () => {
  const reached = new Reached()
  const argv = process.argv
  const cells: { readonly step: Step; readonly spec: CommandSpec }[] = []
  beforeAll(() => {
    const steps = new Map<Node, readonly Step[]>()
    for (const spec of specs) {
      const start = reached.commands.get(spec.name)
      if (start === undefined || spec.name in apart) continue
      const names = new Map(
        reached.from(start).flatMap(({ file, code, node }) => {
          if (/^src\/cli\/(?:spec\/|next-lines|typed-again|parse|debug\/)|^src\/report\/view\//.test(file)) return []
          const found =
            steps.get(node) ??
            every(node).flatMap((one) => [
              ...stepOfText(one, code),
              ...stepOfCall(one, code),
              ...stepOfCommand(one, code),
            ])
          steps.set(node, found)
          return found.map((step) => [step.name, step] as const)
        }),
      )
      for (const step of names.values()) cells.push({ step, spec })
    }
    const isCalled = (id: string): boolean => id === 'it\'s "a" name'
    const file = resolve('recs it\'s "so"/inbox/it\'s "a" name.tape.jsonl')
    noteNamed({ word: 'it\'s "a" tape', file, isCalled, isFoundBy: isCalled })
  })
  afterAll(() => {
    process.argv = argv
    forgetNamed()
  })
  function rendered({ step, spec }: (typeof cells)[number], line: readonly string[]): string | undefined {
    process.argv = ['node', 'vitest-harvest', ...line]
    return step.render(spec)?.replace(/^.*?[:?] (?=npx )/, '')
  }

  function refusedBy(line: readonly string[]): HarvestError {
    try {
      parse(line, specs)
    } catch (error) {
      if (HarvestError.is(error)) return error
      throw error
    }
    throw new Error(`taken: ${line.join(' ')}`)
  }

  function isTaken(next: string): boolean {
    const { words, unclosed } = shellWords(next)
    if (unclosed !== undefined || words.slice(0, 2).join(' ') !== program) return false
    try {
      return parse(words.slice(2), specs).kind !== 'version'
    } catch (error) {
      if (HarvestError.is(error)) return false
      throw error
    }
  }

  /** What a command refuses to run without. */
  const needed: Readonly<Record<string, string>> = { promote: 'as', patch: 'set', export: 'format' }

  function isComplete(next: string): boolean {
    const parsed = parse(shellWords(next).words.slice(2), specs)
    if (parsed.kind !== 'run') return true
    const option = needed[parsed.spec.name]
    const hasProgram = parsed.spec.name !== 'record' || (parsed.given.rest ?? []).length > 0
    return hasProgram && (option === undefined || parsed.given.has(option))
  }

  /** A whole command is the same behind most options: each option is typed before some of them. */
  function before({ step, spec }: (typeof cells)[number], at: number): readonly (readonly string[])[] {
    const lines = linesOf(spec)
    const inFolder = lines.find((line) => line.at(-2) === '--dir')
    const [bare = [], ...others] = lines
    const one = others[at % Math.max(1, others.length)]
    return step.isWhole === true ? [bare, inFolder ?? bare, one ?? bare] : lines
  }

  it('is the whole command, and our parser and a shell read the words that are meant, whatever was typed before', () => {
    const heard = new Set<string>()
    const wrong = cells.flatMap((cell, at) => {
      const next = before(cell, at).flatMap((line) => rendered(cell, line) ?? [])
      // Where an answer goes to is for the shell alone.
      const commands = next.map((one) => one.replace(/ > [\w.]+/, ''))
      for (const one of commands) heard.add(one)
      const refused = commands.find((one) => !isTaken(one) || (cell.step.isWhole === true && !isComplete(one)))
      return refused === undefined ? [] : [`${cell.spec.name}, ${cell.step.name} → ${refused}`]
    })
    expect(wrong).toEqual([])
    const script = ['npx() { printf "%s\\0" "$@"; printf "\\1\\0"; }', ...heard].join('\n')
    const told = execFileSync('bash', ['-eu'], { input: script, cwd: temporaryFolder('next'), encoding: 'utf8' })
    const words = told.split('\u0001\0').slice(0, -1)
    expect(words.map((one) => one.split('\0').slice(0, -1))).toEqual(
      [...heard].map((one) => shellWords(one).words.slice(1)),
    )
    expect(cells.filter(({ step }) => step.isWhole).length).toBeGreaterThan(300)
  })

  it('is the command without one of two options that exclude each other', () => {
    const found = specs.flatMap((spec) => {
      const words = (one: string): readonly string[] => [
        `--${one}`,
        ...(spec.options.some(({ flag }) => flag.startsWith(`--${one} `)) ? ['it\'s "so"'] : []),
      ]
      const pairs = spec.options.flatMap(({ flag, excludes = [] }) =>
        excludes.map((other) => [nameOf(flag).slice(2), other] as const),
      )
      return pairs.map(([one, other]) => {
        const line = [...(linesOf(spec)[0] ?? []), ...words(one), ...words(other)]
        process.argv = ['node', 'vitest-harvest', ...line]
        const steps = refusedBy(line).facts.fix?.flatMap((step) => asCommand(`→ ${step}`, undefined) ?? []) ?? []
        const next = steps.flatMap((step) => /^→ to leave .* out: (npx .*)$/.exec(step)?.[1] ?? [])
        return { next: next.length, taken: next.filter(isTaken).length }
      })
    })
    expect(found.length).toBeGreaterThan(20)
    expect(found.filter(({ next, taken }) => next !== 2 || taken !== 2)).toEqual([])
  })

  it('asks live models in the place of the tape that was to go on', () => {
    const live = cells.flatMap((cell) => {
      const isOwn = cell.spec.name === 'fork' && cell.step.isWhole !== true
      const next = isOwn ? rendered(cell, ['fork', 'a', '--tail', 'tape']) : undefined
      const parsed = next === undefined ? undefined : parse(shellWords(next).words.slice(2), specs)
      return parsed?.kind === 'run' && parsed.given.has('live') && cell.step.name.startsWith('typedAgain')
        ? [parsed]
        : []
    })
    expect(live.map(({ given, spec }) => readTail(given, spec).from)).toEqual(['live', 'live', 'live'])
  })

  it('is left out where the command has no such option, and there alone', () => {
    const found: Record<string, string[]> = {}
    for (const cell of cells)
      if (rendered(cell, linesOf(cell.spec)[0] ?? []) === undefined) (found[cell.step.name] ??= []).push(cell.spec.name)
    expect(found).toEqual(leftOut)
  })

  it('is found: each command that asks what a run depends on has some, and an earlier name has all of the present one', () => {
    const count = (name: string): number => cells.filter(({ spec }) => spec.name === name).length
    expect(['fix', 'fork', 'blame'].filter((name) => count(name) < 20)).toEqual([])
    expect([count('isolate'), count('verify') > 0]).toEqual([count('blame'), true])
  })
})
