import type { SimpleGit } from 'simple-git'
import { programsOff } from './git-programs.ts'

/** How git is asked. */
export interface GitSettings {
  /** What it reads on stdin. */
  readonly input?: string
  /** A partial clone may fetch what is missing from where it was cloned. Default false: only what is here is taken. */
  readonly mayFetch?: boolean
  /** Milliseconds without a word after which git is stopped. Default: a minute. */
  readonly silentMs?: number
}

/** Programs of every repository, switched off. */
const quiet = ['core.fsmonitor=false', 'core.hooksPath=/dev/null', 'log.showSignature=false']

/** What a remote may be spoken to with. For any other, a file too, the repository may name the program. */
const protocols = 'http:https:ssh'

/**
 * The one way to git: simple-git, loaded when it is needed, without programs of the repository, and without questions to
 * a person. Which programs the repository names is found out with the first question, and once more with the first that
 * may fetch: it may see more of the repository.
 *
 * @param isHook - look at the index of the commit that is being made, as git names it to a hook; else as if there was no hook
 * @returns git for one question
 */
export function openGit(cwd: string, isHook = false): (settings?: GitSettings) => Promise<SimpleGit> {
  const off = new Map<boolean, Promise<readonly string[]>>()
  return async ({ input, mayFetch = false, silentMs = 60_000 } = {}) => {
    const { simpleGit } = await import('simple-git')
    const env = {
      ...quietEnvironment(),
      ...(isHook && hookEnvironment()),
      ...(mayFetch ? { GIT_ALLOW_PROTOCOL: protocols } : { GIT_ALLOW_PROTOCOL: 'none', GIT_NO_LAZY_FETCH: '1' }),
    }
    const gitOf = (folder: string, given: Record<string, string>, config: readonly string[], stdin?: string) =>
      simpleGit({
        baseDir: folder,
        config: [...config],
        unsafe: switchesOff,
        allowEnvironment: Object.keys(given).filter((name) => name.startsWith('GIT_')),
        timeout: { block: silentMs },
        // Its default takes what was read 50 ms after the end: on a busy machine that may be nothing, and look like an answer.
        completion: { onExit: false },
        errors: (error, result) => error ?? failure(result),
        ...(stdin !== undefined && { input: () => stdin }),
      }).env(given)
    // As git enters a submodule, whoever its owner is.
    const below = { ...quietEnvironment(), GIT_DIR: '.git' }
    const found =
      off.get(mayFetch) ?? programsOff(cwd, (folder, isSubmodule) => gitOf(folder, isSubmodule ? below : env, quiet))
    off.set(mayFetch, found)
    return gitOf(cwd, env, [...quiet, ...(await found)], input)
  }
}

/**
 * What simple-git takes for a failure, and what it does not: a git that was killed has no exit code, and what it had said by then
 * is no answer. One that fails in silence has said no, as `rev-parse --quiet` does.
 */
function failure({ exitCode, stdOut, stdErr }: TaskResult): Buffer | Error | undefined {
  if (exitCode !== null && (exitCode === 0 || stdErr.length === 0)) return undefined
  const said = Buffer.concat([...stdOut, ...stdErr])
  return exitCode === null ? new Error(`git was killed before it had answered. ${said.toString()}`.trim()) : said
}

interface TaskResult {
  /** Of simple-git, which says nothing of `null`: the process ended by a signal. */
  readonly exitCode: number | null
  readonly stdOut: readonly Buffer[]
  readonly stdErr: readonly Buffer[]
}

/** The guard of simple-git cannot tell a setting that switches something off from one that switches it on. */
const switchesOff = Object.fromEntries(
  [
    ...['Alias', 'AskPass', 'CommandBinaries', 'CredentialHelper', 'DiffExternal', 'DiffTextConv', 'Editor', 'Filter'],
    ...['FsMonitor', 'GitProxy', 'GpgProgram', 'HooksPath', 'Include', 'MergeDriver', 'Pack', 'Pager'],
    ...['ProtocolOverride', 'SshCommand', 'Submodule', 'TemplateDir', 'UrlRewrite'],
  ].map((name) => [`allowUnsafe${name}`, true]),
)

/**
 * Only what git needs to start and to find its user's settings. Inside a git hook GIT_DIR and GIT_INDEX_FILE point
 * at the repository of the hook, which need not be the one `cwd` is in.
 */
function quietEnvironment(): Record<string, string> {
  const kept = ['PATH', 'Path', 'HOME', 'XDG_CONFIG_HOME', 'USERPROFILE', 'SystemRoot', 'SYSTEMROOT', 'TMPDIR', 'TEMP']
  return { GIT_OPTIONAL_LOCKS: '0', GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C', ...known(kept) }
}

/** A hook learns from these which index it is for; without these git would look at another one. */
function hookEnvironment(): Record<string, string> {
  return known(['GIT_DIR', 'GIT_WORK_TREE', 'GIT_INDEX_FILE', 'GIT_COMMON_DIR', 'GIT_OBJECT_DIRECTORY'])
}

function known(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = process.env[name]
      return value === undefined ? [] : [[name, value] as const]
    }),
  )
}
