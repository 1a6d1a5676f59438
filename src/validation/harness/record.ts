import { HarvestError } from '../../errors/index.ts'
import { createRecorder } from '../../record/index.ts'
import { readTape, type Tape } from '../../tape/index.ts'
import { requireClosed } from '../../tape/closed.ts'

/**
 * Records one run with the recorder that production uses, and reads its tape back.
 *
 * @param folder - where the tape goes
 * @throws HarvestError `HARVEST_VALIDATE_RECORD` when the run left no whole tape
 */
export async function recordRun(
  folder: string,
  about: { readonly agent: string; readonly id: string; readonly input: unknown },
  run: () => Promise<unknown>,
): Promise<Tape> {
  const seen: { path?: string; warning?: HarvestError } = {}
  const recorder = createRecorder({
    dir: folder,
    onTape: (path) => (seen.path ??= path),
    onWarning: (warning) => (seen.warning ??= warning),
  })
  // A run that ends with an error is a run: its tape says so.
  await recorder.run(about, run).catch(() => undefined)
  if (seen.path === undefined || seen.warning !== undefined) throw notRecorded(about.id, seen.warning)
  return requireClosed(readTape(seen.path))
}

function notRecorded(run: string, cause: HarvestError | undefined): HarvestError {
  return new HarvestError(
    'HARVEST_VALIDATE_RECORD',
    {
      what: 'A run with an injected fault left no complete tape',
      where: { run, ...(cause !== undefined && { warning: cause.facts.what }) },
      why: 'The recorder failed, so the run cannot be scored.',
      fix: ['see the cause below', 'do not call it inside a recorded or replayed run'],
    },
    { cause },
  )
}
