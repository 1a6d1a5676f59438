/*
 * node disk.child.ts <operation> <recordings>: does one thing on a disk that is full or not ours, and says how it went,
 * as JSON.
 */
import { writeSync } from 'node:fs'
import { join } from 'node:path'
import { HarvestError } from '../../src/errors/index.ts'
import { createRecorder } from '../../src/record/index.ts'
import {
  demote,
  placeHold,
  promote,
  pruneTapes,
  queryTapes,
  removeTapes,
  writeFileAtomic,
} from '../../src/recordings/index.ts'
import { numbered } from './numbered.ts'

const [operation = '', recordings = ''] = process.argv.slice(2)
if (process.env['AS_NOBODY'] !== undefined) {
  process.setgid?.(65_534)
  process.setuid?.(65_534)
}
const tape = join(recordings, 'inbox/run-1.tape.jsonl')

const operations: Readonly<Record<string, () => unknown>> = {
  promote: () => promote({ recordings, tape, as: 'new' }).content.id,
  update: () => writeFileAtomic(join(recordings, 'golden/old.case.yaml'), numbered(1)),
  demote: () => demote(recordings, 'old').removed.length,
  hold: () => placeHold(recordings, tape, 'claim 4711 '.repeat(1_000)),
  rm: () => removeTapes(recordings, [tape]),
  prune: async () => (await pruneTapes({ recordings })).failed.map(({ error }) => error.code),
  index: async () => {
    const { tapes, note } = await queryTapes(recordings)
    return { tapes: tapes.map(({ id }) => id), note }
  },
  record: async () => {
    const warnings: string[] = []
    const recorder = createRecorder({ dir: join(recordings, 'inbox'), onWarning: ({ code }) => warnings.push(code) })
    const answer = await recorder.run({ agent: 'refund', id: 'new', input: 'x'.repeat(500) }, async () => {
      for (let n = 0; n < 20; n++) await fetch('data:text/plain,x')
      return 'answer '.repeat(2_000)
    })
    return { answered: answer.length, warnings }
  },
}

try {
  print({ result: await operations[operation]?.() })
} catch (error) {
  print(HarvestError.is(error) ? { code: error.code, facts: error.facts } : { crash: String(error) })
}

function print(value: object): void {
  writeSync(1, JSON.stringify(value))
}
