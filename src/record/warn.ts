import type { HarvestError } from '../errors/index.ts'

/** Tells about the first failure; a callback that fails itself is ignored, for the agent must go on. */
export function warner(
  onWarning: ((error: HarvestError) => void) | undefined,
): (error: HarvestError, isAnother?: boolean) => void {
  let said = false
  return (error, isAnother = false) => {
    if (onWarning) return quietly(() => onWarning(error))
    if (said && !isAnother) return
    said ||= !isAnother
    process.stderr.write(`vitest-harvest: ${error.message.replaceAll('\n', '\n  ')}\n`)
  }
}

/** Calls back the application. */
export function quietly(work: () => void): void {
  try {
    work()
  } catch {
    // The callback that was to hear of the failure failed: there is nobody left to tell.
  }
}
