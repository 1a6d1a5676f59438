import { onceInProcess } from '../seam/patch.ts'

/** Answers that were never read: their agents had answered, so their runs do not look cut short when the process ends. */
const untouched = new Set<() => void>()

/** What cannot be read any more ends its run too. */
const collected = new FinalizationRegistry<() => void>((end) => {
  untouched.delete(end)
  end()
})

/**
 * Ends a run whose answer will not be read: it was collected, or the process ends before anybody began.
 *
 * @param end - may not hold the answer
 * @returns to be called when a reader begins
 */
export function endUnread(answer: object, end: () => void): () => void {
  collected.register(answer, end)
  untouched.add(end)
  onceInProcess('record.untouched', () => process.on('exit', endUntouched))
  return () => void untouched.delete(end)
}

function endUntouched(): void {
  for (const end of untouched) end()
}
