import { type OwnFile, preloadOption } from '../own-files.ts'

/**
 * Takes what started this module out of the environment: a Node program that the agent starts is no run of its own
 * under the same name.
 *
 * @param self - the preloaded module
 */
export function leaveEnvironment(self: OwnFile, variables: readonly string[]): void {
  for (const name of variables) delete process.env[name]
  const preload = preloadOption(self)
  const { NODE_OPTIONS: options } = process.env
  if (options === undefined) return
  const kept = options.split(/\s+/).filter((option) => option !== preload)
  if (kept.join('') === '') delete process.env['NODE_OPTIONS']
  else process.env['NODE_OPTIONS'] = kept.join(' ')
}
