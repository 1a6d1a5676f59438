// Writes the reference of docs/cli.md from the specs of the commands. With --check it only compares.
import { readFileSync, writeFileSync } from 'node:fs'
import { type CommandSpec, groups, program, shownFlag } from '../src/cli/command.ts'
import { specs } from '../src/cli/spec/index.ts'

const file = 'docs/cli.md'

/** The commands in a table, by group. */
export function overview(): string {
  const rows = groups.flatMap((group) =>
    specs
      .filter((spec) => spec.group === group)
      .map(({ name, about, page }, at) => {
        const more = page === undefined ? '' : `[${page}](${page}.md)`
        return `| ${at === 0 ? `**${group}**` : ''} | [\`${name}\`](#${name}) | ${escape(about)} | ${more} |`
      }),
  )
  return ['', '| | Command | | Page |', '|---|---|---|---|', ...rows, ''].join('\n')
}

/** The reference between the two marks of the page. */
export function reference(): string {
  const now = specs.filter(
    ({ now, group, name, isApart }) =>
      now === undefined && ((group ?? isApart) !== undefined || name.startsWith('tapes ')),
  )
  const former = specs.filter((spec) => spec.now !== undefined)
  const rows = former.map(({ name, now: instead }) => `| \`${name}\` | \`${instead}\` |`)
  return [...now.flatMap(section), '', '### Earlier names', '', '| Name | Now |', '|---|---|', ...rows, ''].join('\n')
}

function section({ name, args, rest, about, options, group }: CommandSpec): readonly string[] {
  const shown = options.filter(({ hidden }) => hidden !== true)
  const usage = [program, name, args, shown.length === 0 ? undefined : '[options]', rest].filter(
    (word) => word !== undefined,
  )
  const row = (option: (typeof options)[number]): string => {
    const { about: text, was = [] } = option
    const before = was.map((one) => `\`${one.flag}\``).join(', ')
    return `| \`${shownFlag(option)}\` | ${escape(text)}${before === '' ? '' : ` (was ${before})`} |`.replaceAll(
      '<tape|case>',
      '<tape\\|case>',
    )
  }
  return [
    '',
    `### ${name}`,
    '',
    `${group === undefined ? '' : `*${group}.* `}${about}.`,
    '',
    `\`${usage.join(' ')}\``,
    ...(shown.length === 0 ? [] : ['', '| Option | |', '|---|---|', ...shown.map(row)]),
  ]
}

function escape(text: string): string {
  return text.replaceAll('|', '\\|')
}

const parts: Readonly<Record<string, () => string>> = { commands: overview, reference }

/** The page with its parts made anew. */
function renewed(page: string): string {
  return Object.entries(parts).reduce((text, [name, make]) => {
    const [start, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
    const [before, after] = [text.split(start)[0], text.split(end)[1]]
    if (before === text || after === undefined) throw new Error(`${file} has no ${start} … ${end}`)
    return `${before}${start}\n${make()}\n${end}${after}`
  }, page)
}

if (import.meta.main) {
  const page = readFileSync(file, 'utf8')
  const whole = renewed(page)
  if (!process.argv.includes('--check')) writeFileSync(file, whole)
  else if (whole !== page) throw new Error(`${file} is not what the commands say: node scripts/cli-reference.ts`)
}
