import { existsSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { HarvestError, shellWord } from '../errors/index.ts'
import { isLeftOver, temporaryFor, temporaryName } from '../tape/new-file.ts'

/** That a lock is held is said again before it counts as abandoned by a process of another machine. */
const beatMs = 10 * 60 * 1000

/**
 * Locks a ledger for one session: two that make the same forks at once would pay for each twice, and count it once.
 *
 * @param file - of the ledger, in a folder that is there
 * @throws HarvestError `HARVEST_BLAME_RUNNING`
 */
export function lockLedger(file: string): Disposable {
  return lockSession(join(dirname(file), 'blame.lock'), (where, remove) => {
    return new HarvestError('HARVEST_BLAME_RUNNING', {
      what: 'Another blame of this tape is running',
      where: { ...where, file },
      why: 'Both would make the same forks, and those of one would not count.',
      fix: ['once it has ended, to go on with its forks: the same command, without --no-cache', remove],
    })
  })
}

/**
 * Locks a case for one fix, from before its runs until it is written: two at once would pay for the same runs, and each would
 * write a tape of its own.
 *
 * @param folder - in which its runs are kept, and which is there
 * @throws HarvestError `HARVEST_FIX_RUNNING`
 */
export function lockFix(folder: string, id: string): Disposable {
  return lockSession(join(folder, `${id}.fix.lock`), (where, remove) => {
    return new HarvestError('HARVEST_FIX_RUNNING', {
      what: 'Another fix of this case is running',
      where: { ...where, case: id },
      why: 'Both would pay for the same runs, and each would write its own tape.',
      fix: ['once it has ended, to go on with its runs: the same command, without --no-cache', remove],
    })
  })
}

/**
 * Each session has a file of its own that names its process, so nothing is taken from a session that was killed: its file is
 * removed. Of two that begin at the same moment, both may be refused.
 *
 * @param refused - the error, from the session that has the lock and the step that removes its file
 */
function lockSession(
  path: string,
  refused: (where: Readonly<Record<string, string>>, remove: string) => HarvestError,
): Disposable {
  const own = temporaryFor(path)
  writeFileSync(own, '', { mode: 0o600, flag: 'wx' })
  const release = (): void => rmSync(own, { force: true })
  const locks = locksBeside(own, path)
  const other = locks.find((lock) => !isLeftOver(lock))
  if (other !== undefined) {
    release()
    throw refused(sessionOf(other), `if it is not running: rm ${shellWord(other)}`)
  }
  for (const lock of locks) rmSync(lock, { force: true })
  const beat = setInterval(() => {
    if (existsSync(own)) utimesSync(own, new Date(), new Date())
  }, beatMs).unref()
  // A worker that loses its Vitest kills itself.
  process.prependOnceListener('disconnect', release)
  return {
    [Symbol.dispose]() {
      clearInterval(beat)
      process.off('disconnect', release)
      release()
    },
  }
}

function locksBeside(own: string, path: string): readonly string[] {
  const folder = dirname(path)
  return readdirSync(folder)
    .filter((name) => name.startsWith(`.${basename(path)}.`) && temporaryName.test(name))
    .map((name) => join(folder, name))
    .filter((lock) => lock !== own)
}

function sessionOf(lock: string): Readonly<Record<string, string>> {
  const [, id = ''] = temporaryName.exec(basename(lock)) ?? []
  const since = statSync(lock, { throwIfNoEntry: false })?.birthtime.toISOString() ?? 'now'
  return { process: id, since }
}
