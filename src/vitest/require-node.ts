/**
 * The config process loads in older versions as well, so that they get this sentence: what they lack (`globSync`) is imported with
 * the whole of its module there, for a name that is missing is an error of syntax.
 *
 * @throws Error in a Node below the oldest that is supported
 */
export function requireNode(version: string): void {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major < 22 || (major === 22 && minor < 15))
    throw new Error(`vitest-harvest needs Node 22.15, 24 or 26 (this is ${version})`)
}
