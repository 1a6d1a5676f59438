import { serializeTape, type TapeHeader } from '../../src/tape/index.ts'

/** Cases and tapes as a stranger's pull request may bring them. */
export interface ForeignCases {
  /** File → content. */
  readonly files: Readonly<Record<string, string | Buffer>>
  /** Case that is not sound → what is said of it. */
  readonly codes: Readonly<Record<string, string>>
  /** Files that would be there if anything of it had run. */
  readonly canaries: readonly string[]
}

const canary = 'canary-of-a-case'
const attack = `import { writeFileSync } from 'node:fs'\nwriteFileSync('${canary}', '')\nexport const isRight = () => true\n`

/** A tape without a step, with more in its header. */
function tape(id: string, more: Partial<TapeHeader> = {}): string {
  const header: TapeHeader = {
    harvest: 1,
    id,
    agent: 'quiet',
    startedAt: '2026-03-04T05:06:07.089Z',
    recorder: 'x',
    flags: [],
    pins: { node: '24' },
    ...more,
  }
  return serializeTape(header, [], { n: 9, at: 1, outcome: { status: 'returned', value: 1 } })
}

const self = (id: string): Partial<TapeHeader> => ({
  parent: { id, file: `${id}.tape.jsonl`, digest: 'x'.repeat(22), events: 1, keep: 1 },
})
const invalid = Buffer.from([0xff, 0xfe])
const withBytes = (text: string, at: string): Buffer => {
  const [head = '', rest = ''] = text.split(at, 2)
  return Buffer.concat([Buffer.from(head), invalid, Buffer.from(at + rest)])
}

/** Tapes that are not sound, and what is said of each. */
const tapes: Readonly<Record<string, readonly [code: string, content: string | Buffer]>> = {
  'torn-behind': ['HARVEST_TAPE_', `${tape('torn-behind')}{"kind":"ma`],
  'zeros-behind': ['HARVEST_TAPE_', `${tape('zeros-behind')}\0\0`],
  'own-parent': ['HARVEST_TAPE_PARENT', tape('own-parent', self('own-parent'))],
  'no-date': ['HARVEST_TAPE_', tape('no-date', { startedAt: 'yesterday' })],
  'no-such-date': ['HARVEST_TAPE_', tape('no-such-date', { startedAt: '2026-13-45T99:99:99.000Z' })],
  'key-twice': ['HARVEST_TAPE_', tape('key-twice').replace('"id":', '"id":"x","id":')],
  'no-utf8': ['HARVEST_TAPE_', withBytes(tape('no-utf8'), 'quiet')],
}

const least = (id: string): string =>
  `case: ${id}\nagent: quiet\ntape: ${id}.tape.jsonl\nexpect: pass\nbaseline: []\noutcome: "*"\n`
const bomb = `lesson:\n  a: &a [${'x,'.repeat(9)}x]\n${[...'bcdefghi'].map((name, at) => `  ${name}: &${name} [${`*${'abcdefgh'[at]},`.repeat(9)}*${'abcdefgh'[at]}]\n`).join('')}`

/** Cases beyond a limit, and what is said of each. */
const cases: Readonly<Record<string, readonly [code: string, content: string | Buffer]>> = {
  ...Object.fromEntries(
    ['1e300', '.inf', '-1', '3600001', '2147483648'].map((timeout, at) => [
      `time-out-${at}`,
      ['HARVEST_CASE_', `${least(`time-out-${at}`)}timeout: ${timeout}\n`] as const,
    ]),
  ),
  'case-no-utf8': ['HARVEST_CASE_', withBytes(least('case-no-utf8'), 'baseline')],
  'case-key-twice': ['HARVEST_CASE_', `${least('case-key-twice')}expect: pass\n`],
  'case-bomb': ['HARVEST_CASE_', least('case-bomb') + bomb],
  'case-tag': ['HARVEST_CASE_', `${least('case-tag')}title: !!js/function "function () { return process.abort() }"\n`],
  'case-outside': ['HARVEST_CASE_', least('case-outside').replace('case-outside.tape', '../../../outside.tape')],
}

export function foreignCases(): ForeignCases {
  const files: Record<string, string | Buffer> = {
    'node_modules/evil/index.mjs': attack,
    'recordings/golden/command.case.yaml': least('command'),
    'recordings/golden/command.tape.jsonl': tape('command', { command: { argv: ['touch', canary], cwd: '.' } }),
  }
  for (const [id, [, content]] of Object.entries(tapes)) {
    files[`recordings/golden/${id}.tape.jsonl`] = content
    files[`recordings/golden/${id}.case.yaml`] = least(id)
  }
  for (const [id, [, content]] of Object.entries(cases)) {
    files[`recordings/golden/${id}.tape.jsonl`] = tape(id)
    files[`recordings/golden/${id}.case.yaml`] = content
  }
  const codes = Object.fromEntries(Object.entries({ ...tapes, ...cases }).map(([id, [code]]) => [id, code]))
  return { files, codes, canaries: [canary] }
}
