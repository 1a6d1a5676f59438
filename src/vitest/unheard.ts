import type { TestArtifact } from 'vitest'

/**
 * Hands Vitest an error that belongs to no test that still runs: it prints it below the tests, and the run is red.
 *
 * Vitest leaves uncaught errors alone where anybody else listens for them, as we do.
 */
export function tellVitest(error: unknown, kind: 'Uncaught Exception' | 'Unhandled Rejection'): void {
  const { __vitest_worker__: worker } = globalThis as { readonly __vitest_worker__?: VitestWorker }
  const { name, message, stack } = error instanceof Error ? error : new Error(String(error))
  const told = { name, message, stack, VITEST_TEST_PATH: worker?.filepath }
  worker?.rpc.onUnhandledError(told, kind).catch(() => {
    // This worker is not heard any more: it is about to end, and its own stream is what is left.
    process.stderr.write(`${kind}: ${String(stack)}\n`)
  })
}

/** Hands our reporter what belongs to a test that is over: Vitest's own function refuses it. */
export function tellReporter(test: string, artifact: TestArtifact): void {
  const { __vitest_worker__: worker } = globalThis as { readonly __vitest_worker__?: VitestWorker }
  worker?.rpc.onTaskArtifactRecord(test, artifact).catch(() => {
    process.stderr.write(`not reported any more: ${JSON.stringify(artifact)}\n`)
  })
}

/** What Vitest keeps in each worker; not in its types. */
interface VitestWorker {
  readonly filepath?: string
  readonly rpc: {
    onUnhandledError(error: object, kind: string): Promise<void>
    onTaskArtifactRecord(test: string, artifact: TestArtifact): Promise<unknown>
  }
}
