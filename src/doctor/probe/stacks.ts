import { siteIn } from '../../seam/caller.ts'
import { askAt, unwatched } from './probe.ts'
import { ownFolder } from '../../own-files.ts'

/**
 * The stack of an error names folders of this machine. Only where someone formats stacks already, as Vitest does to name
 * the lines of the sources: a formatter of our own would lose them.
 */
export function probeStacks(): void {
  const format = Error.prepareStackTrace
  if (format === undefined) return
  const folder = process.cwd()
  Error.prepareStackTrace = (error, frames): unknown => {
    // It reads source maps.
    const text: unknown = unwatched(() => format.call(Error, error, frames))
    if (typeof text !== 'string' || isOurs(frames[0])) return text
    // While a stack is formatted no other can be taken: the place is where the error was made, not where it is read.
    const made = new Error('made')
    made.stack = text
    const site = siteIn(made)
    const slot = site === undefined ? undefined : askAt({ kind: 'path', name: 'error.stack' }, site)
    return slot?.way(['another folder']) === undefined ? text : text.replaceAll(folder, '/elsewhere')
  }
}

const own = ownFolder.href

function isOurs(frame: NodeJS.CallSite | undefined): boolean {
  return frame?.getFileName()?.startsWith(own) === true
}
