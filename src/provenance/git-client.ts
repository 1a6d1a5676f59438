import type { SimpleGit } from 'simple-git'

/** How git is asked. */
export interface GitSettings {
  /** What it reads on stdin. */
  readonly input?: string
  /** Look at the index of the commit that is being made, as git names it to a hook. Default false: as if there was no hook. */
  readonly isHook?: boolean
  /** Take only what is here: a partial clone fetches nothing. Default false. */
  readonly isLocal?: boolean
  /** Milliseconds without a word after which git is stopped. Default: a minute. */
  readonly silentMs?: number
}

/** Programs of the repository, switched off. */
const quiet = ['core.fsmonitor=false', 'core.hooksPath=/dev/null', 'log.showSignature=false']

/**
 * The one way to git: simple-git, loaded when it is needed, without programs of the repository, and without questions to
 * a person.
 */
export async function gitIn(cwd: string, settings: GitSettings = {}): Promise<SimpleGit> {
  const { input, isHook = false, isLocal = false, silentMs = 60_000 } = settings
  const { simpleGit } = await import('simple-git')
  const env = { ...quietEnvironment(), ...(isHook && hookEnvironment()), ...(isLocal && { GIT_NO_LAZY_FETCH: '1' }) }
  const git = simpleGit({
    baseDir: cwd,
    config: [...quiet, ...(isLocal ? ['protocol.allow=never'] : [])],
    // These settings switch something off; the guard cannot tell that from switching it on.
    unsafe: { allowUnsafeFsMonitor: true, allowUnsafeHooksPath: true, allowUnsafeProtocolOverride: true },
    allowEnvironment: Object.keys(env).filter((name) => name.startsWith('GIT_')),
    timeout: { block: silentMs },
    ...(input !== undefined && { input: () => input }),
  })
  return git.env(env)
}

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
