import { globSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { stepsElsewhere } from '../../errors/above.ts'
import { HarvestError } from '../../errors/index.ts'
import { gitState, isInboxIgnored } from '../../provenance/index.ts'
import type { TapeSummary } from '../../recordings/index.ts'
import { toTheConfig } from '../../jobs/run.ts'
import { ignoreInbox } from '../../recordings/ignore-inbox.ts'
import { readTapeHeader } from '../../tape/index.ts'

/** One thing about the project that has to be right, or had better be. */
export interface Check {
  readonly name: string
  /** `note`: works as it is, and could be better. */
  readonly state: 'ok' | 'note' | 'wrong'
  readonly says: string
  readonly fix?: string
}

/**
 * Looks over the project, without starting anything but git.
 *
 * @param tapes - that can be read, the newest first
 */
export async function checkSetUp(recordings: string, tapes: readonly TapeSummary[]): Promise<readonly Check[]> {
  return [checkNode(), checkVitest(), checkConfig(), ...(await checkGit(recordings)), ...checkCommits(tapes)]
}

function checkNode(): Check {
  const { node } = process.versions
  const [major = 0, minor = 0] = node.split('.').map(Number)
  const isKnown = (major === 22 && minor >= 15) || major === 24 || major >= 26
  return isKnown
    ? { name: 'node', state: 'ok', says: `Node ${node}` }
    : {
        name: 'node',
        state: 'wrong',
        says: `Node ${node} is not supported`,
        fix: 'use Node 22.15 or later, 24, or 26',
      }
}

function checkVitest(): Check {
  const name = 'vitest'
  try {
    const manifest = createRequire(join(process.cwd(), 'noop.js')).resolve('vitest/package.json')
    const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version: string }
    const [major = 0, minor = 0] = version.split('.').map(Number)
    if (major > 4 || (major === 4 && minor >= 1)) return { name, state: 'ok', says: `Vitest ${version}` }
    return { name, state: 'wrong', says: `Vitest ${version} is too old`, fix: 'npm install --save-dev vitest@latest' }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error
    return { name, state: 'wrong', says: 'Vitest is not installed here', fix: 'npm install --save-dev vitest' }
  }
}

function checkConfig(): Check {
  const files = globSync('{vitest,vite}.config.{ts,mts,cts,js,mjs,cjs}')
  const file = files.find((one) => readFileSync(one, 'utf8').includes('vitest-harvest/plugin'))
  if (file !== undefined) return { name: 'config', state: 'ok', says: `${file} has harvest()` }
  // It may come from a package of the user's own: cases run or they do not.
  return {
    name: 'config',
    state: 'note',
    says: files.length === 0 ? 'No Vitest config here' : `${files.join(', ')} does not name vitest-harvest/plugin`,
    fix: toTheConfig()[0] ?? "plugins: [harvest({ agents: { refund: './src/refund-agent.ts#refundAgent' } })]",
  }
}

async function checkGit(recordings: string): Promise<readonly Check[]> {
  const name = 'git'
  try {
    const git = await gitState(process.cwd())
    if (git === undefined) {
      const says = 'Not a git repository: every file of the project counts as code'
      return [{ name, state: 'note', says, fix: 'git init' }]
    }
    const known: Check = { name, state: 'ok', says: `git, at ${git.commit?.slice(0, 7) ?? 'no commit yet'}` }
    // Nothing is recorded here: the folder above has an inbox of its own.
    if (stepsElsewhere(recordings).length > 0) return [known]
    const ignored = await isInboxIgnored(process.cwd(), recordings)
    const inbox = `${recordings}/inbox/`
    return [
      known,
      ignored === false
        ? { name: 'inbox', state: 'wrong', says: `git does not ignore ${inbox}`, fix: ignoreInbox(recordings) }
        : { name: 'inbox', state: 'ok', says: `git ignores ${inbox}` },
    ]
  } catch (error) {
    if (!HarvestError.is(error, 'HARVEST_GIT_UNREADABLE')) throw error
    return [{ name, state: 'note', says: error.facts.what, fix: error.facts.fix?.[0] ?? 'git status' }]
  }
}

/** The newest tapes tell whether the recorder knows the commit it runs at. */
function checkCommits(tapes: readonly TapeSummary[]): readonly Check[] {
  const newest = tapes.slice(0, 20)
  if (newest.length === 0) return []
  const without = newest.filter(({ file }) => readTapeHeader(file).pins.commit === undefined)
  const name = 'commit'
  if (without.length === 0) return [{ name, state: 'ok', says: 'the recorder knows the commit' }]
  const says = `${without.length} of the newest ${newest.length} tapes do not name the commit they were recorded at`
  return [{ name, state: 'note', says, fix: 'createRecorder({ dir, commit: process.env.GIT_SHA })' }]
}
