import type { Cursor } from '../cursor.ts'
import { type BytesFormat, type ForeignFormat, listed } from '../document.ts'
import { readJson } from '../json.ts'
import type { ForeignRecording } from '../types.ts'
import { isZip, type ZipEntry, zipEntries } from '../zip.ts'
import { conversationSteps } from './conversation.ts'
import { outcome } from './marks.ts'
import { known, listOf, timeOf } from './values.ts'

/**
 * Logs of Inspect as JSON: each sample of each epoch is a run.
 *
 * @see https://inspect.aisi.org.uk/eval-logs.html
 */
export const inspectAi: ForeignFormat = {
  name: 'inspect-ai',
  recognises: ({ root }) => root.at('eval').at('task').isThere && root.at('version').isThere && root.at('plan').isThere,
  read({ root }) {
    const model = root.at('eval').at('model').maybeText
    const task = root.at('eval').at('task').maybeText
    return listed(listOf(root.at('samples')), (sample) => sampleOf(sample, model, task))
  },
}

/** Logs of Inspect as it writes them since version 0.3.50: an archive with a file for each sample. */
export const inspectEval: BytesFormat = {
  name: 'inspect-eval',
  // The first file is the journal of the start, or a sample.
  recognisesBytes: (bytes) =>
    isZip(bytes) && /^(_journal\/|samples\/|header\.json)/.test(bytes.toString('latin1', 30, 60)),
  readBytes(bytes, file) {
    const entries = zipEntries(bytes, file)
    const head = ['header.json', '_journal/start.json'].flatMap(
      (name) => entries.find((entry) => entry.name === name) ?? [],
    )
    const about = head.slice(0, 1).map((entry) => jsonIn(entry, file).at('eval'))[0]
    const [model, task] = [about?.at('model').maybeText, about?.at('task').maybeText]
    const samples = entries
      .filter(({ name }) => /^samples\/.+\.json$/.test(name))
      .sort((a, b) => order.compare(a.name, b.name))
    return samples.map((entry) => ({ ...sampleOf(jsonIn(entry, file), model, task), format: 'inspect-eval' }))
  },
}

/** Samples are written as they end; their numbers tell them apart. */
const order = new Intl.Collator('en', { numeric: true })

function jsonIn(entry: ZipEntry, file: string): Cursor {
  return readJson(entry.read().toString('utf8'), `${file} › ${entry.name}`)
}

/** The run of a sample: its messages, and its scores as the outcome. */
function sampleOf(sample: Cursor, asked: string | undefined, task: string | undefined): ForeignRecording {
  const [id, epoch] = [sample.at('id').value, sample.at('epoch').value].map((part) =>
    part === undefined ? undefined : String(part),
  )
  const startedMs =
    timeOf(sample.at('started_at')) ??
    timeOf(listOf(sample.at('events'))[0]?.at('timestamp') ?? sample.at('started_at'))
  const steps = conversationSteps(sample.at('messages').items, (message) => {
    const answered = message.at('model').maybeText
    return { model: { ...(asked === undefined ? {} : { asked }), ...(answered === undefined ? {} : { answered }) } }
  })
  return {
    format: 'inspect-ai',
    name: [task, id, epoch === undefined ? undefined : `epoch-${epoch}`].filter((part) => part !== undefined).join('-'),
    exchanges: [],
    steps: [
      ...steps,
      ...outcome(known({ scores: sample.at('scores'), error: sample.at('error'), limit: sample.at('limit') })),
    ],
    ...(startedMs === undefined ? {} : { startedMs }),
  }
}
