import { existsSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { HarvestError, shellWord } from '../errors/index.ts'
import { isLeftOver, temporaryFor, temporaryName } from '../tape/new-file.ts'

/** That a lock is held is said again before it counts as abandoned by a process of another machine. */
const beatMs = 10 * 60 * 1000

/**
 * Locks a ledger for one session: two that make the same forks at once would pay for each twice, and count it once. Each session
 * has a file of its own beside the ledger that names its process, so nothing is taken from a session that was killed: its file is
 * removed. Of two that begin at the same moment, both may be refused.
 *
 * @param file - of the ledger, in a folder that is there
 * @throws HarvestError `HARVEST_BLAME_RUNNING`
 */
export function lockLedger(file: string): Disposable {
  const own = temporaryFor(join(dirname(file), 'blame.lock'))
  writeFileSync(own, '', { mode: 0o600, flag: 'wx' })
  const release = (): void => rmSync(own, { force: true })
  const other = locksBeside(own).find((lock) => !isLeftOver(lock))
  if (other !== undefined) {
    release()
    throw running(other, file)
  }
  for (const lock of locksBeside(own)) rmSync(lock, { force: true })
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

function locksBeside(own: string): readonly string[] {
  const folder = dirname(own)
  return readdirSync(folder)
    .filter((name) => name.startsWith('.blame.lock.') && temporaryName.test(name))
    .map((name) => join(folder, name))
    .filter((lock) => lock !== own)
}

function running(lock: string, file: string): HarvestError {
  const [, id = ''] = temporaryName.exec(lock.slice(dirname(lock).length + 1)) ?? []
  const since = statSync(lock, { throwIfNoEntry: false })?.birthtime.toISOString() ?? 'now'
  return new HarvestError('HARVEST_BLAME_RUNNING', {
    what: 'Another blame of this tape is running',
    where: { process: id, since, file },
    why: 'Both would make the same forks, and those of one would not count.',
    fix: [
      'once it has ended, to go on with its forks: the same command',
      `if it is not running: rm ${shellWord(lock)}`,
    ],
  })
}
