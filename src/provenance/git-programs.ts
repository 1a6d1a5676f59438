import { existsSync, realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { SimpleGit } from 'simple-git'

/**
 * Settings that leave no program to the repository a folder lies in, or to the submodules in it: each one it names is what
 * the user's own settings say, or nothing. git runs filters for a `status`, and whoever packed a `.git` folder wrote
 * its settings.
 *
 * @param gitOf - git in a folder, or in the submodule that a folder is, with no program running so far
 * @throws an error with git's words, when it cannot read the settings
 */
export async function programsOff(
  cwd: string,
  gitOf: (folder: string, isSubmodule: boolean) => SimpleGit,
): Promise<readonly string[]> {
  const settings: Setting[] = []
  const submodules = new Set<string>()
  const read = async (folder: string): Promise<void> => {
    const ask = (question: string[]): Promise<string> => gitOf(folder, submodules.has(folder)).raw(question)
    // Without an index there are no submodules. One that git cannot read it names itself, when it is asked.
    const [config, index] = await Promise.all([ask(listSettings), ask(listIndex).catch(() => '')])
    settings.push(...readSettings(config))
    for (const link of submodulesIn(index)) {
      const path = resolve(folder, told(link))
      const submodule = existsSync(join(path, '.git')) ? realpathSync(path) : undefined
      if (submodule === undefined || submodules.has(submodule)) continue
      submodules.add(submodule)
      await read(submodule)
    }
  }
  await read(cwd)
  return switchedOff(settings)
}

/** A name that came through as it is: what is no UTF-8 did not. */
function told(name: string, lost = /\ufffd/): string {
  if (!lost.test(name)) return name
  throw new Error(`the name of a program or submodule cannot be given back to git, so nothing of it is run: ${name}`)
}

interface Setting {
  readonly key: string
  readonly value: string
  /** Whether the user, or who runs the machine, made it. */
  readonly isOwn: boolean
}

const listSettings = ['config', '--list', '--show-scope', '-z']
const listIndex = ['ls-files', '--stage', '-z', ':/']

/** By the last word of its key, as git and git-lfs call it; what a filter requires goes with the filter. */
const namesProgram =
  /^(?:filter\..*\.required|.*\.(?:\w*command|cmd|\w*program|\w*helper|\w*hook|askpass|cookiefile|textconv|external|clean|smudge|process|driver|standalonetransferagent)|lfs\.customtransfer\..*\.path)$/s

/** What leaves a setting as if it was not there. */
function without(key: string): string {
  // git ends when a hook that is on has no command.
  if (key.startsWith('hook.')) return key.replace(/\.command$/, '.enabled=false')
  if (key.endsWith('.required')) return `${key}=false`
  return key === 'core.sshcommand' ? `${key}=ssh` : `${key}=`
}

/** `git lfs install --local` writes these: they run the git-lfs of the user. */
const isLfs = /^git-lfs (?:clean -- %f|smudge (?:--skip )?-- %f|filter-process(?: --skip)?)$/

const isCredentialHelper = /^credential\.(?:.*\.)?helper$/s

function switchedOff(settings: readonly Setting[]): readonly string[] {
  const foreign = new Set(
    settings.flatMap(({ key, value, isOwn }) => (isOwn || !namesProgram.test(key) || isLfs.test(value) ? [] : [key])),
  )
  return [...foreign].flatMap((key) => {
    // All helpers are one list, which an empty one empties.
    const isSame = isCredentialHelper.test(key)
      ? (other: string) => isCredentialHelper.test(other)
      : (other: string) => other === key
    const own = settings.filter((setting) => setting.isOwn && isSame(setting.key))
    // git reads a name up to the first `=`.
    return [without(told(key, /[=\ufffd]/)), ...own.map((setting) => `${setting.key}=${setting.value}`)]
  })
}

/** Scope, NUL, key, line feed, value, NUL. */
function readSettings(listed: string): readonly Setting[] {
  const parts = listed.split('\0')
  return Array.from({ length: Math.floor(parts.length / 2) }, (_, at) => {
    const [scope = '', entry = ''] = parts.slice(at * 2)
    const end = entry.indexOf('\n')
    return {
      key: end === -1 ? entry : entry.slice(0, end),
      value: end === -1 ? 'true' : entry.slice(end + 1),
      isOwn: scope === 'system' || scope === 'global',
    }
  })
}

/** `<mode> <oid> <stage>`, tab, path, NUL. */
function submodulesIn(listed: string): readonly string[] {
  return listed
    .split('\0')
    .flatMap((entry) => (entry.startsWith('160000 ') ? [entry.slice(entry.indexOf('\t') + 1)] : []))
}
