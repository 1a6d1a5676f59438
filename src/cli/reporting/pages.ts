import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { listCases, queryTapes } from '../../recordings/index.ts'
import { pageOf } from '../../report/view/page.ts'
import { findRun, type FoundRun } from '../find.ts'
import { gatherReport } from './gather.ts'
import { gatherGolden } from './golden.ts'
import { askedIn, gatherInbox } from './inbox.ts'
import type { Pages } from './serve.ts'

/**
 * The pages of all recordings. Each is made when it is asked for, from the files as they are then.
 *
 * @param results - reports of Vitest's `json` reporter
 * @param subject - tags that the subject `-` of a filter stands for
 */
export function pagesOf(recordings: string, results: readonly string[], subject?: readonly string[]): Pages {
  return async (path, query) => {
    const [kind = '', name = '', ...more] = path.split('/')
    if (more.length > 0) return undefined
    if (kind === '' && name === '') {
      const data = await gatherGolden(recordings, results, ({ file }) => `case/${keyOf(file)}`)
      return pageOf({ ...data, inbox: await gatherInbox(recordings, askedIn(query), tapeAddress, subject) })
    }
    const found =
      kind === 'case' ? caseAt(recordings, name) : kind === 'run' ? await tapeAt(recordings, name) : undefined
    return found === undefined ? undefined : pageOf(gatherReport(found, { recordings }))
  }
}

function caseAt(recordings: string, key: string): FoundRun | undefined {
  const summary = listCases(recordings).find(({ file }) => keyOf(file) === key)
  return summary === undefined ? undefined : findRun(resolve(summary.file), recordings)
}

/** Tapes that were listed, by their key: what is asked for is looked up here, and never a path. */
const tapes = new Map<string, string>()

export function tapeAddress(file: string): string {
  tapes.set(keyOf(file), file)
  return `run/${keyOf(file)}`
}

async function tapeAt(recordings: string, key: string): Promise<FoundRun | undefined> {
  if (!tapes.has(key)) {
    const all = await queryTapes(recordings, { filter: { place: 'inbox' } })
    for (const { file } of all.tapes) tapeAddress(file)
  }
  const file = tapes.get(key)
  return file === undefined || !existsSync(file) ? undefined : { file, recordings }
}

export function addressOf(found: FoundRun): string {
  return found.case === undefined ? tapeAddress(found.file) : `case/${keyOf(found.case.file)}`
}

/** Stands for a file in an address: names are text from elsewhere. */
function keyOf(file: string): string {
  return createHash('sha256').update(resolve(file)).digest('hex').slice(0, 16)
}
