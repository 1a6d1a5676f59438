/*
 * node trouble.child.ts <folder> [<full folder> <read-only folder>]: a service whose recorder meets every trouble a disk can make.
 * Prints for each trouble what the service answered and what the recorder counted. Warnings go to stderr.
 */
import { closeSync, mkdirSync, openSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createRecorder, type Recorder, tool } from '../../src/record/index.ts'

const [folder = '.', full, readOnly] = process.argv.slice(2)
const runs = 4
const write = tool('write', async (text: string) => text.length)

/** @param trouble - what happens while each of the runs is under way */
async function serve(dir: string, trouble: (n: number) => void = () => undefined): Promise<object> {
  const recorder: Recorder = createRecorder({ dir })
  const answers: unknown[] = []
  for (let n = 0; n < runs; n++) {
    answers.push(
      await recorder.run({ agent: 'writer', id: `run-${n}` }, async () => {
        const length = await write('a'.repeat(40_000))
        trouble(n)
        return length + (await write('b'))
      }),
    )
  }
  const { kept, dropped, unrecorded, failures, open, runs: began } = recorder.stats
  return { answers: [...new Set(answers)], runs: began, kept, dropped, unrecorded, failures, open }
}

const removed = join(folder, 'removed')
const replaced = join(folder, 'replaced')
const found: Record<string, object> = {
  fine: await serve(join(folder, 'fine')),
  removed: await serve(removed, () => rmSync(removed, { recursive: true })),
  replaced: await serve(replaced, (n) => {
    if (n > 0) return
    rmSync(replaced, { recursive: true })
    writeFileSync(replaced, 'no folder')
  }),
  emptied: await serve(join(folder, 'emptied'), (n) => truncateSync(join(folder, `emptied/run-${n}.tape.jsonl`))),
  'too many files': await withoutDescriptors(() => serve(join(folder, 'many'))),
  ...(full !== undefined && { full: await serve(full) }),
  ...(readOnly !== undefined && { 'read-only': await serve(readOnly) }),
}
process.stdout.write(JSON.stringify(found))

/** Takes every descriptor there is. */
async function withoutDescriptors<T>(work: () => Promise<T>): Promise<T> {
  mkdirSync(join(folder, 'many'))
  const taken: number[] = []
  try {
    for (;;) taken.push(openSync('/dev/null', 'r'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EMFILE') throw error
  }
  try {
    return await work()
  } finally {
    for (const descriptor of taken) closeSync(descriptor)
  }
}
