import { neutralLine } from '../../errors/index.ts'
import type { CheckFinding } from '../check/inspect.ts'
import { type CommandSpec, type Given, jsonOption } from '../command.ts'
import { exit } from '../exit.ts'
import { attributesLine } from '../git-attributes.ts'
import { usage } from '../parse.ts'
import { neutralLines, type Screen } from '../screen.ts'

/** Judges recordings before they are committed: schema, pairs, digests, secrets, size. Runs nothing. */
export const checkCommand: CommandSpec = {
  name: 'check',
  args: '[...files]',
  about: 'Check cases and tapes before they are committed: schema, pairs, digests, secrets, size',
  options: [
    { flag: '--staged', about: "Check what git's next commit holds, for a pre-commit hook" },
    { flag: '--dir <folder>', about: 'Folder with golden/ (default: recordings)' },
    { flag: '--max-size <size>', about: 'Largest tape to commit, such as 500kb or 20mb (default: 10mb)' },
    { flag: '--allow <kind>', about: 'A kind of secret that is none here, such as email; may be repeated', many: true },
    jsonOption,
  ],
  examples: ['check', 'check --staged', 'check recordings/golden/refund-100x.case.yaml --max-size 20mb'],
  async run(given, screen) {
    const maxSize = sizeOf(given)
    const { createRedactor, kindsOff, kindsOn } = await import('../../privacy/index.ts')
    const { inspect } = await import('../check/inspect.ts')
    const { staged, workTree } = await import('../check/snapshot.ts')
    const allow = given.values('allow')
    const stranger = allow.find((kind) => ![...kindsOn, ...kindsOff].includes(kind))
    if (stranger !== undefined)
      throw usage(checkCommand, 'HARVEST_CLI_OPTION', `--allow knows no kind '${neutralLine(stranger, 40)}'`, [
        `one of: ${kindsOn.join(', ')}`,
      ])
    const dir = given.value('dir')
    const asked = { files: given.args, ...(dir === undefined ? {} : { dir }) }
    const snapshot = given.has('staged') ? await staged(asked) : workTree(asked)
    const progress = (done: number): void => screen.progress(`checking ${done} of ${snapshot.files.length}`)
    const found = [
      ...inspect(snapshot, { maxSize, allow, progress }),
      ...(snapshot.files.some(({ kind }) => kind === 'tape') ? await lineEnds(dir ?? 'recordings') : []),
    ]
    // What was found may stand in the text of a mistake, or in the name of a file.
    const redactor = createRedactor({ off: allow })
    const findings = found.map((one) => redactor.json({ ...one }) as unknown as CheckFinding)
    if (given.has('json')) screen.json({ checked: snapshot.files.length, findings })
    else print(snapshot.files.length, findings, screen)
    return exitOf(findings)
  },
}

/** Whether git would turn the line ends of tapes, and with them every digest. */
async function lineEnds(recordings: string): Promise<readonly CheckFinding[]> {
  const { keepsTapeBytes } = await import('../../provenance/index.ts')
  if ((await keepsTapeBytes(process.cwd(), recordings)) !== false) return []
  return [
    {
      level: 'warning',
      code: 'HARVEST_CHECK_LINE_ENDS',
      file: '.gitattributes',
      what: 'Git may turn the line ends of tapes: where core.autocrlf is on, none of them can be read',
      detail: [],
      fix: [`echo '${attributesLine}' >> .gitattributes`, 'or: npx harvest init'],
    },
  ]
}

function print(checked: number, findings: readonly CheckFinding[], screen: Screen): void {
  const errors = findings.filter(({ level }) => level === 'error')
  const files = `${checked} file${checked === 1 ? '' : 's'} checked`
  for (const { level, code, file, line, what, detail, fix } of findings) {
    const place = neutralLine(line === undefined ? file : `${file}:${line}`, 400)
    screen.line(`${screen.paint('bold', place)}  ${level === 'warning' ? 'warning: ' : ''}${neutralLine(what, 300)}`)
    for (const more of detail) screen.line(`  ${neutralLines(more.replace(/^ {2}/, ''))}`)
    for (const next of fix) screen.line(`  → ${neutralLine(next, 500)}`)
    screen.line(`  ${screen.paint('dim', `(${code})`)}`)
  }
  if (findings.length > 0) screen.line()
  if (errors.length === 0) screen.line(`${files}, nothing to mend`)
  else screen.line(`${files}, ${errors.length} thing${errors.length === 1 ? '' : 's'} to mend`)
}

/** A tape nobody can replay weighs more than anything else that was found. */
function exitOf(findings: readonly CheckFinding[]): number {
  const errors = findings.filter(({ level }) => level === 'error')
  if (errors.some(({ code }) => /^HARVEST_(?:TAPE_(?!OBSOLETE)|PROMOTE_)/.test(code))) return exit.tape
  return errors.length === 0 ? exit.ok : exit.divergence
}

const defaultMaxSize = 10 * 1024 * 1024
const units: Readonly<Record<string, number>> = { '': 1, b: 1, kb: 1024, mb: 1024 * 1024 }

function sizeOf(given: Given): number {
  const text = given.value('max-size')
  if (text === undefined) return defaultMaxSize
  const [, number = '', unit = ''] = /^(\d{1,9}(?:\.\d{1,3})?)(b|kb|mb)?$/i.exec(text) ?? []
  if (number !== '') return Math.floor(Number(number) * (units[unit.toLowerCase()] ?? 1))
  throw usage(checkCommand, 'HARVEST_CLI_OPTION', `--max-size cannot be '${neutralLine(text, 40)}'`, [
    'for instance: --max-size 20mb',
  ])
}
