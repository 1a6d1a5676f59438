import { execFileSync } from 'node:child_process'
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { loadCase, readAcceptedFile, requireTapeFile } from '../../src/cases/index.ts'
import { errorOf, full, messageOf } from './samples.ts'

let root: string
let file: string
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'harvest-case-')))
  file = join(root, 'refund-100x.case.yaml')
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const shown = (message: string) => message.replaceAll(root, '<root>')

test('a case file is read from disk', () => {
  writeFileSync(file, full)
  expect(loadCase(file)).toMatchObject({ id: 'refund-100x', file })
})

test('a symbolic link is never followed', () => {
  writeFileSync(join(root, 'elsewhere.yaml'), full)
  symlinkSync(join(root, 'elsewhere.yaml'), file)
  expect(shown(messageOf(() => loadCase(file)))).toMatchInlineSnapshot(`
    "The case file is a symbolic link

      case  <root>/refund-100x.case.yaml

    The target of a link was not reviewed.
    → to see its target: ls -l <root>/refund-100x.case.yaml
    → replace the link with the case file itself
    (HARVEST_CASE_LINK)"
  `)
})

test('a link that leads nowhere is a link, not a missing file', () => {
  symlinkSync(join(root, 'nowhere'), file)
  expect(errorOf(() => loadCase(file)).code).toBe('HARVEST_CASE_LINK')
})

test('a missing file, a folder and bytes that are no text are three different errors', () => {
  expect(shown(messageOf(() => loadCase(file)))).toMatchInlineSnapshot(`
    "Unknown case file

      case  <root>/refund-100x.case.yaml

    → to list them: npx vitest-harvest ls
    (HARVEST_CASE_MISSING)"
  `)
  mkdirSync(file)
  expect(errorOf(() => loadCase(file)).code).toBe('HARVEST_CASE_NOT_A_FILE')
  rmSync(file, { recursive: true })
  writeFileSync(file, Buffer.from([0x63, 0xff, 0xfe]))
  expect(errorOf(() => loadCase(file)).code).toBe('HARVEST_CASE_ENCODING')
})

test('bytes that are not UTF-8 are told by their line, also among the changes that were accepted', () => {
  const bytes = Buffer.from(full)
  const at = bytes.indexOf('agent:')
  bytes[at + 8] = 0xff
  writeFileSync(file, bytes)
  const line = full.slice(0, full.indexOf('agent:')).split('\n').length
  for (const read of [loadCase, readAcceptedFile])
    expect(shown(messageOf(() => read(file)))).toContain(`case  <root>/refund-100x.case.yaml:${line}\n`)
})

test('a time-out nobody can wait for is a mistake with its line', () => {
  for (const timeout of ['3600001', '2147483648', '1e300', '9007199254740993', '.inf', '-1']) {
    writeFileSync(file, full.replace(/^timeout: .*$/m, `timeout: ${timeout}`))
    expect(shown(messageOf(() => loadCase(file)))).toMatch(/refund-100x\.case\.yaml:\d+[^]*timeout/)
  }
})

test.skipIf(process.platform === 'win32')('a named pipe nobody writes to is refused, not waited for', () => {
  execFileSync('mkfifo', [file])
  expect(errorOf(() => loadCase(file)).code).toBe('HARVEST_CASE_NOT_A_FILE')
})

test('a file above the limit is refused by its size, before it is read', () => {
  writeFileSync(file, '')
  truncateSync(file, 3 * 1024 ** 3)
  expect(errorOf(() => loadCase(file)).code).toBe('HARVEST_CASE_TOO_LARGE')
})

test('the tape of a case is the file beside it', () => {
  writeFileSync(file, full)
  writeFileSync(join(root, 'refund-100x.tape.jsonl'), '')
  expect(requireTapeFile(loadCase(file))).toBe(join(root, 'refund-100x.tape.jsonl'))
})

test('a missing tape is told with the line that names it', () => {
  writeFileSync(file, full)
  const found = loadCase(file)
  const outside = messageOf(() => requireTapeFile(found))
  mkdirSync(join(root, '.git'))
  const inGit = messageOf(() => requireTapeFile(found))
  rmSync(join(root, '.git'), { recursive: true })
  expect(outside).not.toMatch(/git|commit it/)
  expect(shown(inGit)).toMatchInlineSnapshot(`
    "The tape of the case refund-100x is missing

      case  <root>/refund-100x.case.yaml:4:1
      tape  <root>/refund-100x.tape.jsonl

    A case and its tape are in one folder and are committed together.
    → to get the committed tape back: git restore --staged --worktree <root>/refund-100x.tape.jsonl
    → if it was not committed: commit it where it was promoted
    → if the tape was renamed: write its new name into the case
    → if it is lost, to promote another one in its place: rm <root>/refund-100x.case.yaml
    (HARVEST_CASE_TAPE_MISSING)"
  `)
})

test('a tape that is a link is refused, a hard link is a file like any other', () => {
  writeFileSync(file, full)
  writeFileSync(join(root, 'real.tape.jsonl'), '')
  const found = loadCase(file)
  symlinkSync(join(root, 'real.tape.jsonl'), join(root, 'refund-100x.tape.jsonl'))
  expect(errorOf(() => requireTapeFile(found)).code).toBe('HARVEST_CASE_TAPE_LINK')
  rmSync(join(root, 'refund-100x.tape.jsonl'))
  linkSync(join(root, 'real.tape.jsonl'), join(root, 'refund-100x.tape.jsonl'))
  expect(requireTapeFile(found)).toBe(join(root, 'refund-100x.tape.jsonl'))
})
