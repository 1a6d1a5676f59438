import { page } from '../errors/page.ts'
import { type CommandSpec, groups, type OptionSpec, program, shownFlag } from './command.ts'

const width = 100

/** The help of the program: its commands by group. */
export function rootHelp(version: string, specs: readonly CommandSpec[]): string {
  const lines = groups.flatMap((group) => [
    '',
    group,
    ...columns(specs.filter((one) => one.group === group).map(({ name, about }) => [name, about] as const)),
  ])
  return [
    `vitest-harvest ${version}: turn a recorded AI agent run into a deterministic test`,
    '',
    `Usage: ${program} <command> [options]`,
    ...lines,
    '',
    ...specs.filter(({ isApart }) => isApart).map(({ name, about }) => `${about}: ${program} ${name}`),
    `Options of a command: ${program} <command> --help`,
    `Version: ${program} --version`,
  ].join('\n')
}

/** The help of one command. */
export function commandHelp(spec: CommandSpec): string {
  const { name, args, about, options, rest, examples } = spec
  const shown = options.filter(({ hidden }) => hidden !== true)
  const help: OptionSpec = { flag: '--help', short: '-h', about: 'Print this help' }
  const rows = [...shown, help].map((option) => [shownFlag(option), option.about] as const)
  return [
    about,
    '',
    `Usage: ${[program, name, args, options.length === 0 ? undefined : '[options]', rest].filter((word) => word !== undefined).join(' ')}`,
    '',
    'Options:',
    ...columns(rows),
    '',
    'Examples:',
    ...examples.map((example) => `  ${program} ${example}`),
    ...(spec.page === undefined ? [] : ['', `More: ${page(spec.page)}`]),
  ].join('\n')
}

/** Two columns within 100; a long text goes on below itself. */
function columns(rows: readonly (readonly [left: string, right: string])[]): readonly string[] {
  const left = Math.min(30, Math.max(...rows.map(([word]) => word.length)))
  return rows.flatMap(([word, text]) => {
    const [first = '', ...more] = wrapped(text, width - left - 4)
    const indent = ' '.repeat(left + 4)
    const head = word.length > left ? [`  ${word}`, `${indent}${first}`] : [`  ${word.padEnd(left)}  ${first}`]
    return [...head, ...more.map((line) => `${indent}${line}`)]
  })
}

function wrapped(text: string, room: number): readonly string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= room) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}
