import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { importRecording } from '../../src/importers/index.ts'
import { keepAnswer } from '../../src/recordings/index.ts'
import { branchFlag, type Json, readTape, serializeTape } from '../../src/tape/index.ts'
import { samples } from '../importers/samples.ts'
import { traceSamples } from '../importers/trace-samples.ts'
import { putTape } from '../recordings/make.ts'
import { codingSession } from './coding-session.ts'
import { deskBlame, deskEvents } from './desk.ts'

/** A run of each kind that a report is made of, in one recordings folder, and how each is named. */
export const tenRuns = [
  'refund/refund-broken-item',
  'desk-bad',
  'desk-good',
  'session',
  'desk-branch',
  'from-har',
  'from-spans',
  'cut',
  'red/red',
  'red/unproven',
] as const
export type TenRun = (typeof tenRuns)[number]

const golden = 'recordings/golden/refund/refund-broken-item'

/** Writes the ten runs below a folder. */
export function writeTenRuns(dir: string): void {
  for (const id of ['refund/refund-broken-item', 'red/red', 'red/unproven']) {
    const name = id.split('/')[1]!
    mkdirSync(dirname(join(dir, 'golden', id)), { recursive: true })
    copyFileSync(resolve(`${golden}.tape.jsonl`), join(dir, 'golden', `${id}.tape.jsonl`))
    const text = `case: ${name}\nagent: refund\ntape: ${name}.tape.jsonl\nexpect: pass\ntitle: Refunds a broken item\n`
    writeFileSync(join(dir, 'golden', `${id}.case.yaml`), text)
  }
  const incident = join(dir, 'golden/refund/refund-broken-item.tape.jsonl')
  const [step] = deskBlame.steps
  const blame = {
    ...deskBlame,
    steps: [1, 2, 3, 4, 5, 6].map((no) => ({ ...step, position: no - 1, steps: [no], label: `step ${no}` })),
    verdict: { kind: 'confirmed', commitments: [{ ...deskBlame.verdict!.commitments![0]!, position: 3 }] },
  }
  const kept = { digest: readTape(incident).digest, at: '2026-03-04T05:06:07.000Z', key: 'blame' }
  keepAnswer(dir, incident, 'blame', { ...kept, answer: JSON.parse(JSON.stringify(blame)) as Json })

  for (const isBad of [true, false])
    putTape(dir, `inbox/${isBad ? 'desk-bad' : 'desk-good'}`, {
      header: { id: isBad ? 'desk-bad' : 'desk-good', agent: 'desk' },
      events: deskEvents({ isBad }),
      close: { outcome: { status: 'returned', value: { refunded: isBad ? 2500 : 25 } } },
    })
  const parent = readTape(join(dir, 'inbox/desk-bad.tape.jsonl'))
  const branch = serializeTape(
    {
      ...parent.header,
      id: 'desk-branch',
      flags: [...parent.header.flags, branchFlag],
      parent: { id: 'desk-bad', file: 'desk-bad.tape.jsonl', digest: parent.digest, events: 9, before: 60, keep: 6 },
    },
    deskEvents({ isBad: false }).filter(({ n }) => n >= 60),
    { ...parent.close!, outcome: { status: 'returned', value: { refunded: 25 } } },
  )
  writeFileSync(join(dir, 'inbox/desk-branch.tape.jsonl'), branch)
  putTape(dir, 'inbox/cut', { header: { id: 'cut', agent: 'desk' }, events: deskEvents().slice(0, 5), close: null })

  // Recorded requests and answers; a trace of spans; a transcript without times: three grades.
  putImport(dir, 'from-har', samples.har)
  putImport(dir, 'from-spans', traceSamples.otlp)
  putImport(dir, 'session', codingSession(391))
}

function putImport(dir: string, id: string, text: string): void {
  const bytes = Buffer.from(text)
  const { header, events, close } = importRecording({ bytes, file: id, id, agent: 'elsewhere' })
  writeFileSync(join(dir, 'inbox', `${id}.tape.jsonl`), serializeTape(header, events, close))
}
