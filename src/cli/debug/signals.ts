/** What ends a command from outside, and its exit codes, as shells have them. */
const codes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const
type Signal = keyof typeof codes
const signals = Object.keys(codes) as readonly Signal[]

/**
 * Does the work until it is done, or until a signal ends it. Then nothing may be left: `close` ends the processes of the agent,
 * and what started them removes their folders.
 *
 * @returns the exit code of the work, or of the signal
 */
export async function untilSignal(work: () => Promise<number>, close: () => void): Promise<number> {
  const ended = Promise.withResolvers<number>()
  const hear = (signal: Signal): void => {
    ended.resolve(codes[signal])
    // Else what waits for the next command keeps this process.
    process.stdin.destroy()
  }
  for (const signal of signals) process.on(signal, hear)
  try {
    return await Promise.race([ended.promise, work()])
  } finally {
    for (const signal of signals) process.off(signal, hear)
    close()
  }
}
