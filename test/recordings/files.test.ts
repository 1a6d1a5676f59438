import * as nodeFs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { loadCase } from '../../src/cases/index.ts'
import { filesBelow, isCaseFile, isTapeFile, RecordingFiles, writeNewFiles } from '../../src/recordings/files.ts'
import { promote, writeFileAtomic } from '../../src/recordings/index.ts'
import { type Failure, failingAt, fs, namesIn, originals, restoreDisk } from './failing-disk.ts'
import { errorOf, messageOf, put, putTape, scratch, tapeText } from './make.ts'
import { temporaryFor } from '../../src/tape/new-file.ts'

const { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } = nodeFs

test('a new file is readable by its owner only, and an old one keeps its mode', () => {
  const file = put(scratch(), 'old.txt', 'old')
  chmodSync(file, 0o644)
  writeFileAtomic(file, 'new')
  expect([readFileSync(file, 'utf8'), statSync(file).mode & 0o777]).toEqual(['new', 0o644])
  const fresh = join(dirname(file), 'fresh.txt')
  writeFileAtomic(fresh, Buffer.from([0, 255]))
  expect([readFileSync(fresh), statSync(fresh).mode & 0o777]).toEqual([Buffer.from([0, 255]), 0o600])
  expect(readdirSync(dirname(file))).toEqual(['fresh.txt', 'old.txt'])
})

test('a link is refused, also one that leads nowhere, and what it leads to stays', () => {
  const file = put(scratch(), 'target.txt', 'old')
  const link = join(dirname(file), 'link.txt')
  symlinkSync(file, link)
  expect(messageOf(() => writeFileAtomic(link, 'new'))).toMatchInlineSnapshot(`
    "Refused to write through a symbolic link

      link  <root>/recordings/link.txt

    The target of a link is neither reviewed nor committed.
    → to see its target: ls -l <root>/recordings/link.txt
    → replace the link with the file or folder itself
    (HARVEST_RECORDINGS_LINK)"
  `)
  symlinkSync('nowhere', join(dirname(file), 'dangling.txt'))
  expect(errorOf(() => writeFileAtomic(join(dirname(file), 'dangling.txt'), 'new', { exclusive: true })).code).toBe(
    'HARVEST_RECORDINGS_LINK',
  )
  expect(readFileSync(file, 'utf8')).toBe('old')
})

test('an exclusive write does not replace what is there', () => {
  const file = put(scratch(), 'a.txt', 'old')
  expect(errorOf(() => writeFileAtomic(file, 'new', { exclusive: true })).code).toBe('HARVEST_RECORDINGS_EXISTS')
  expect(readFileSync(file, 'utf8')).toBe('old')
})

test('a folder that is not there is an error that names the file', () => {
  const file = join(scratch(), 'none/a.txt')
  expect(messageOf(() => writeFileAtomic(file, 'x'))).toMatchInlineSnapshot(`
    "Cannot write a file of the recordings

      file    <root>/recordings/none/a.txt
      system  ENOENT on open

    The disk is full, or the folder is not writable. Existing files are unchanged.
    → to see free space: df -h <root>/recordings/none
    → to see its permissions: ls -ld <root>/recordings/none
    (HARVEST_RECORDINGS_WRITE)"
  `)
})

afterEach(restoreDisk)

describe.each<Failure>(['before', 'after', 'for good'])('a disk that fails %s, at any one call,', (failure) => {
  test('leaves a file that was there as it was, or as it was to be', () => {
    for (let n = 1; ; n++) {
      const file = put(scratch(), 'a.txt', 'old')
      const { error, calls } = failingAt(n, failure, () => writeFileAtomic(file, 'new'))
      const now = readFileSync(file, 'utf8')
      expect(['old', 'new']).toContain(now)
      if (error === undefined) expect(now).toBe('new')
      else expect(error).toMatchObject({ code: 'HARVEST_RECORDINGS_WRITE' })
      expect(namesIn(dirname(file), failure)).toEqual(['a.txt'])
      if (calls < n) return
    }
  })

  test('leaves no case without its tape and no half of either, and doing it again works', () => {
    let failures = 0
    for (let n = 1; ; n++) {
      const recordings = scratch()
      const tape = putTape(recordings, 'inbox/run-1')
      const { error, calls } = failingAt(n, failure, () => promote({ recordings, tape, as: 'a' }))
      const golden = join(recordings, 'golden')
      const names = namesIn(golden, failure)
      expect([[], ['a.tape.jsonl'], ['a.case.yaml', 'a.tape.jsonl']]).toContainEqual(names)
      if (names.includes('a.tape.jsonl')) expect(readFileSync(join(golden, 'a.tape.jsonl'), 'utf8')).toBe(tapeText())
      if (names.includes('a.case.yaml')) expect(loadCase(join(golden, 'a.case.yaml')).id).toBe('a')
      else expect(promote({ recordings, tape, as: 'a' }).content.id).toBe('a')
      if (error !== undefined) failures++
      if (error !== undefined && failure !== 'for good') expect(names).toEqual([])
      if (calls < n) break
    }
    expect(failures).toBeGreaterThan(15)
  })

  test('never leaves a part of several new files', () => {
    for (let n = 1; ; n++) {
      const folder = dirname(put(scratch(), 'x', ''))
      const [one, two] = [join(folder, 'one'), join(folder, 'two')]
      const { error, calls } = failingAt(n, failure, () =>
        writeNewFiles((add) => {
          add(one, (temporary) => writeFileSync(temporary, '1'))
          add(two, (temporary) => writeFileSync(temporary, '2'))
        }),
      )
      const names = namesIn(folder, failure).filter((name) => name !== 'x')
      if (error === undefined) expect(names).toEqual(['one', 'two'])
      else if (failure !== 'for good') expect(names).toEqual([])
      if (error !== undefined) expect(error).toMatchObject({ code: 'HARVEST_RECORDINGS_WRITE' })
      if (calls < n) return
    }
  })
})

test('several new files one of whose names is taken are none, and the file of that name stays', () => {
  const folder = dirname(put(scratch(), 'two', 'theirs'))
  const error = errorOf(() =>
    writeNewFiles((add) => {
      for (const name of ['one', 'two']) add(join(folder, name), (temporary) => writeFileSync(temporary, 'ours'))
    }),
  )
  expect(error.code).toBe('HARVEST_RECORDINGS_EXISTS')
  expect(readdirSync(folder)).toEqual(['two'])
  expect(readFileSync(join(folder, 'two'), 'utf8')).toBe('theirs')
})

test('a name that is taken while several new files are written keeps its file, and none of ours is there', () => {
  const folder = dirname(put(scratch(), 'x', ''))
  const error = errorOf(() =>
    meanwhile(
      (n) => n === 2 && writeFileSync(join(folder, 'two'), 'theirs'),
      () =>
        writeNewFiles((add) => {
          for (const name of ['one', 'two']) add(join(folder, name), (temporary) => writeFileSync(temporary, 'ours'))
        }),
    ),
  )
  expect(error.code).toBe('HARVEST_RECORDINGS_EXISTS')
  expect(readdirSync(folder).sort()).toEqual(['two', 'x'])
  expect(readFileSync(join(folder, 'two'), 'utf8')).toBe('theirs')
})

/** Lets somebody else act at the moment a file has reached the disk and has no name yet. */
function meanwhile(act: (n: number) => void, run: () => unknown): unknown {
  let n = 0
  fs['fsyncSync'] = (...args) => {
    act(++n)
    return originals.get('fsyncSync')?.(...args)
  }
  syncBuiltinESMExports()
  try {
    return run()
  } finally {
    restoreDisk()
  }
}

test('of two that write the same name exclusively, the later one is refused', () => {
  const file = join(dirname(put(scratch(), 'x', '')), 'a.txt')
  const error = errorOf(() =>
    meanwhile(
      () => writeFileSync(file, 'theirs'),
      () => writeFileAtomic(file, 'ours', { exclusive: true }),
    ),
  )
  expect(error.code).toBe('HARVEST_RECORDINGS_EXISTS')
  expect(readFileSync(file, 'utf8')).toBe('theirs')
  expect(readdirSync(dirname(file)).sort()).toEqual(['a.txt', 'x'])
})

test('of two that promote the same tape under one id, the later one is refused and the case of the other keeps its tape', () => {
  const recordings = scratch()
  const tape = putTape(recordings, 'inbox/run-1')
  const other = join(recordings, 'golden/a.case.yaml')
  // Flushed are: the folder that was made, the tape, its folder, then the case.
  const error = errorOf(() =>
    meanwhile(
      (n) => n === 4 && writeFileSync(other, 'theirs'),
      () => promote({ recordings, tape, as: 'a' }),
    ),
  )
  expect(error.code).toBe('HARVEST_PROMOTE_EXISTS')
  expect(readFileSync(other, 'utf8')).toBe('theirs')
  expect(readdirSync(dirname(other)).sort()).toEqual(['a.case.yaml', 'a.tape.jsonl'])
})

test('a file system without hard links is written to all the same, and nothing is replaced there either', () => {
  const file = join(dirname(put(scratch(), 'x', '')), 'a.txt')
  fs['linkSync'] = () => {
    throw Object.assign(new Error('EPERM: operation not permitted, link'), { code: 'EPERM' })
  }
  syncBuiltinESMExports()
  writeFileAtomic(file, 'first', { exclusive: true })
  expect(errorOf(() => writeFileAtomic(file, 'second', { exclusive: true })).code).toBe('HARVEST_RECORDINGS_EXISTS')
  restoreDisk()
  expect(readFileSync(file, 'utf8')).toBe('first')
})

test('a disk that takes a few bytes at a time gets all of them', () => {
  const file = join(put(scratch(), 'x', ''), '../a.txt')
  const text = 'ä'.repeat(1_000)
  fs['writeSync'] = (descriptor, bytes, offset = 0) =>
    originals.get('writeSync')?.(descriptor, bytes, offset, Math.min(7, (bytes as Buffer).length - (offset as number)))
  syncBuiltinESMExports()
  writeFileAtomic(file, text)
  restoreDisk()
  expect(readFileSync(file, 'utf8')).toBe(text)
})

test('what a killed process left is swept, what a running one writes is not', () => {
  const recordings = scratch()
  const tape = putTape(recordings, 'inbox/run-1')
  const golden = join(recordings, 'golden')
  mkdirSync(golden)
  const running = basename(temporaryFor(join(golden, 'a.tape.jsonl')))
  const gone = running.replace(`.${process.pid}.`, '.4194305.')
  const others = ['.a.tmp', '.gitignore', '.a.tape.jsonl.4194305.tmp', `.x.1.0123456789ab.tmp`]
  for (const name of [gone, running, ...others]) writeFileSync(join(golden, name), 'half')
  promote({ recordings, tape, as: 'a' })
  expect(readdirSync(golden).sort()).toEqual([running, ...others, 'a.case.yaml', 'a.tape.jsonl'].sort())
  expect(lstatSync(join(golden, 'a.case.yaml')).nlink).toBe(1)
})

test('inbox and the rest, looked through apart, are listed as all of them in one order', () => {
  const folder = scratch()
  const names = ['golden/a', 'golden/inbox/b', 'Inbox/c', 'inbox/d', 'inbox/e/f', 'inbo/g', 'inbox.x/h', 'inboy/i', 'z']
  for (const name of [...names, 'inbox/.hidden/j']) {
    put(folder, `${name}.tape.jsonl`, '')
    put(folder, `${name}.case.yaml`, '')
  }
  mkdirSync(join(folder, 'inbox', 'folder.tape.jsonl'))
  const all = new RecordingFiles(folder)
  const isIn = (file: string): boolean => file.startsWith(join(folder, 'inbox', '/'))
  expect(all.tapes).toEqual(filesBelow(folder, isTapeFile))
  expect(all.tapes).toHaveLength(names.length)
  expect(all.inboxTapes).toEqual(all.tapes.filter(isIn))
  expect(all.inboxTapes).toHaveLength(2)
  expect(all.cases).toEqual(filesBelow(folder, isCaseFile).filter((file) => !isIn(file)))
})

test('an inbox that is a link or missing has no tapes, nor has one of recordings that are a file or missing', () => {
  const folder = scratch()
  const elsewhere = dirname(put(scratch(), 'a.tape.jsonl', ''))
  const file = put(folder, 'inbox.txt', '')
  for (const none of [join(folder, 'none'), folder, file]) expect(new RecordingFiles(none).inboxTapes).toEqual([])
  symlinkSync(elsewhere, join(folder, 'inbox'))
  expect(new RecordingFiles(folder).tapes).toEqual([])
})
