/** What Vitest keeps in a worker, as far as it is of use here. */
interface VitestWorker {
  readonly resolvingModules?: { readonly size: number }
}

/**
 * Whether a module is on its way to this worker of Vitest. An agent that imports while it runs waits for another process,
 * for as long as that takes on a busy machine, and no handle of Node says so.
 */
export function isImporting(): boolean {
  const worker = (globalThis as { readonly __vitest_worker__?: VitestWorker }).__vitest_worker__
  return (worker?.resolvingModules?.size ?? 0) > 0
}
