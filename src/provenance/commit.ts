/** Where hosts and CI services put the commit they built, in the order we ask; our own name first. */
const commitVariables: readonly string[] = [
  'GIT_SHA',
  'GITHUB_SHA',
  'VERCEL_GIT_COMMIT_SHA',
  'CI_COMMIT_SHA',
  'CIRCLE_SHA1',
  'BUILDKITE_COMMIT',
  'BITBUCKET_COMMIT',
  'BUILD_SOURCEVERSION',
  'CODEBUILD_RESOLVED_SOURCE_VERSION',
  'RENDER_GIT_COMMIT',
  'RAILWAY_GIT_COMMIT_SHA',
  'HEROKU_SLUG_COMMIT',
  'CF_PAGES_COMMIT_SHA',
  'WORKERS_CI_COMMIT_SHA',
  'COMMIT_REF',
  'DRONE_COMMIT_SHA',
  'TRAVIS_COMMIT',
  'GIT_COMMIT',
]

/**
 * The commit this process was built from, as its environment tells, without git.
 *
 * Values that are not commit hashes (`HEAD`, a branch, an unfilled template) are passed over.
 */
export function resolveCommit(env: Readonly<Record<string, string | undefined>>): string | undefined {
  for (const name of commitVariables) {
    const value = env[name]?.trim().toLowerCase()
    if (value !== undefined && isCommit(value)) return value
  }
  return undefined
}

/** Whether a text is a commit hash: 7 to 64 lower-case hexadecimal digits (SHA-1 or SHA-256, possibly shortened). */
export function isCommit(value: string): boolean {
  return /^[0-9a-f]{7,64}$/.test(value)
}

/** Whether two hashes name the same commit; either may be shortened. Texts that are not hashes are compared as they are. */
export function sameCommit(one: string, other: string): boolean {
  if (!isCommit(one) || !isCommit(other)) return one === other
  return one.startsWith(other) || other.startsWith(one)
}
