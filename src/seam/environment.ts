/**
 * Takes what started this module out of the environment: a Node program that the agent starts is no run of its own
 * under the same name.
 *
 * @param self - `import.meta.url` of the preloaded module
 */
export function leaveEnvironment(self: string, variables: readonly string[]): void {
  for (const name of variables) delete process.env[name]
  const { NODE_OPTIONS: options } = process.env
  if (options === undefined) return
  const kept = options.split(/\s+/).filter((option) => option !== `--import=${self}`)
  if (kept.join('') === '') delete process.env['NODE_OPTIONS']
  else process.env['NODE_OPTIONS'] = kept.join(' ')
}
