import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { afterAll, describe, expect, test } from 'vitest'
import { readAcceptedFile } from '../../src/cases/index.ts'
import { HarvestError } from '../../src/errors/index.ts'
import { refuseUnsafeEntries } from '../../src/vitest/followed-links.ts'

const base = mkdtempSync(join(tmpdir(), 'harvest-links-'))
afterAll(() => rmSync(base, { recursive: true, force: true }))

let count = 0
/** What is said of a recordings folder that has this in it. */
function saidOf(put: (recordings: string, root: string) => void): string {
  const root = join(base, `project-${count++}`)
  const recordings = join(root, 'recordings')
  mkdirSync(join(recordings, 'golden/group'), { recursive: true })
  writeFileSync(join(recordings, 'golden/group/a.case.yaml'), 'case: a\n')
  put(recordings, root)
  return codeOf(() => refuseUnsafeEntries(root, recordings))
}

function codeOf(work: () => unknown): string {
  return errorOf(work)?.code ?? 'nothing'
}

function messageOf(work: () => unknown): string {
  return errorOf(work)!.message
}

function errorOf(work: () => unknown): HarvestError | undefined {
  try {
    work()
    return undefined
  } catch (error) {
    if (!HarvestError.is(error)) throw error
    return error
  }
}

const pipe = (file: string): unknown => execFileSync('mkfifo', [file])

describe.skipIf(process.platform === 'win32')('a recordings folder', () => {
  test.for<[string, (recordings: string, root: string) => void, string]>([
    ['a folder of the disk', (to) => symlinkSync('/', join(to, 'golden/root')), 'HARVEST_CASE_LINK'],
    ['a folder as inbox', (to) => symlinkSync('/', join(to, 'inbox')), 'HARVEST_CASE_LINK'],
    ['a folder of the project', (to, root) => symlinkSync(root, join(to, 'golden/group/x')), 'HARVEST_CASE_LINK'],
    ['a device', (to) => symlinkSync('/dev/zero', join(to, 'golden/z.case.yaml')), 'HARVEST_CASE_LINK'],
    ['a device as accepted.yaml', (to) => symlinkSync('/dev/zero', join(to, 'accepted.yaml')), 'HARVEST_CASE_LINK'],
    ['a file elsewhere', (to) => symlinkSync('/etc/hostname', join(to, 'golden/z.tape.jsonl')), 'HARVEST_CASE_LINK'],
  ])('with a link to %s is refused', ([, put, said]) => expect(saidOf(put)).toBe(said))

  test('is refused in the words of its error alone, without the lines of code behind it', () => {
    const recordings = join(base, 'printed')
    mkdirSync(recordings)
    symlinkSync('/etc/hostname', join(recordings, 'z.tape.jsonl'))
    try {
      refuseUnsafeEntries(recordings, recordings)
      expect.unreachable()
    } catch (error) {
      expect(inspect(error)).toBe(`[HarvestError: ${(error as Error).message}]`)
    }
  })

  test.each(['\u001b[2Jx', 'x\nForged', 'a\u202eb', 'x\u009b31m?', '##[error]x'])(
    'with a case or folder whose name a terminal or CI runner would obey is refused, and the name is shown: %j',
    (name) => {
      const put = (file: string): string => saidOf((to) => writeFileSync(join(to, 'golden', file), 'case: a\n'))
      expect(put(`${name}.case.yaml`)).toBe('HARVEST_CASE_NAME')
      expect(saidOf((to) => mkdirSync(join(to, 'golden', name)))).toBe('HARVEST_CASE_NAME')
      expect(saidOf((to) => mkdirSync(join(to, 'inbox', name), { recursive: true }))).toBe('nothing')
      // Vitest prints no other: macOS makes `Icon` with a return.
      expect(put(name)).toBe('nothing')
      const link = join(base, `project-${count - 1}`, 'recordings/golden', name)
      rmSync(link)
      symlinkSync('/dev/zero', link)
      for (const project of [count - 1, count - 4]) {
        const recordings = join(base, `project-${project}`, 'recordings')
        expect(messageOf(() => refuseUnsafeEntries(recordings, recordings))).not.toContain(name)
      }
    },
  )

  test('with a pipe is refused, also as accepted.yaml, which no reader waits for', () => {
    expect(saidOf((to) => pipe(join(to, 'golden/z.case.yaml')))).toBe('HARVEST_CASE_NOT_A_FILE')
    expect(saidOf((to) => pipe(join(to, 'accepted.yaml')))).toBe('HARVEST_CASE_NOT_A_FILE')
    expect(codeOf(() => readAcceptedFile(join(base, `project-${count - 1}`, 'recordings/accepted.yaml')))).toBe(
      'HARVEST_CASE_NOT_A_FILE',
    )
    const link = join(base, 'linked-accepted.yaml')
    symlinkSync('/dev/zero', link)
    expect(codeOf(() => readAcceptedFile(link))).toBe('HARVEST_CASE_LINK')
  })

  test('is looked through as it is otherwise: a file in the inbox, a link to a file of the project, and one without a target', () => {
    const put = (to: string): void => {
      mkdirSync(join(to, 'inbox'))
      symlinkSync('/dev/zero', join(to, 'inbox/a.tape.jsonl'))
      pipe(join(to, 'inbox/pipe'))
      symlinkSync('group/a.case.yaml', join(to, 'golden/b.case.yaml'))
      symlinkSync('me@host.123', join(to, 'golden/.#a.case.yaml'))
      symlinkSync('circle', join(to, 'golden/circle'))
      writeFileSync(join(to, 'golden/größe 2.case.yaml'), 'case: a\n')
    }
    expect(saidOf(put)).toBe('nothing')
    expect(codeOf(() => refuseUnsafeEntries(base, join(base, 'missing')))).toBe('nothing')
  })
})
