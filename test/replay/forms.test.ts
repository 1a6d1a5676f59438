import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runInChild } from '../../fixtures/child/index.ts'
import { withProvider } from '../../fixtures/provider/index.ts'
import type { Form } from './forms.agents.ts'
import type { FormsDone, FormsJob } from './forms.child.ts'

type Done = Readonly<Record<string, FormsDone>>

const names = ['openai-chat', 'openai-responses', 'anthropic', 'gemini', 'bedrock-converse']
const script = new URL('./forms.child.ts', import.meta.url)
const inChild = (job: FormsJob): Promise<Done> => runInChild(script, job)
const dir = mkdtempSync(join(tmpdir(), 'harvest-forms-'))
let recorded: Readonly<Record<Form, Done>>

beforeAll(async () => {
  recorded = await withProvider(async ({ base, h2base, tlsbase, tlsh2base }) => {
    const input = { base, h2base, tlsbase, tlsh2base }
    return {
      whole: await inChild({ form: 'whole', record: { dir, input } }),
      stream: await inChild({ form: 'stream', record: { dir, input } }),
    }
  })
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const tapesOf = (done: Done): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(done).map(([name, { tape = '' }]) => [name, tape]))

describe.each<readonly [from: Form, to: Form]>([
  ['whole', 'stream'],
  ['stream', 'whole'],
])('an answer that was recorded in the form %s and is asked for in the form %s', (from, to) => {
  let replayed: Done
  beforeAll(async () => {
    replayed = await inChild({ form: to, replay: tapesOf(recorded[from]) })
  })

  test.each(names)("says the same to the vendor's own client: %s", (name) => {
    const { heard, problems, transcoded } = replayed[name] ?? {}
    expect(problems).toEqual([])
    expect(heard).toEqual(recorded[from][name]?.heard)
    expect(heard?.cities).toHaveLength(2)
    expect(transcoded).toMatchObject([
      { stepNumber: 1, from, to },
      { stepNumber: 2, from, to },
    ])
  })

  test('is no other question', () => {
    const differences = names.flatMap((name) => replayed[name]?.drift ?? [])
    // What is asked for beside a stream is bookkeeping.
    expect(differences.filter((one) => !one.startsWith('params params.stream_options'))).toEqual([])
  })

  test('is refused where every byte has to be the recorded one', async () => {
    const strict = await inChild({ form: to, replay: tapesOf(recorded[from]), options: { strict: true } })
    for (const name of names)
      expect(strict[name]?.problems?.[0], name).toMatch(
        /^HARVEST_ANSWER_FORM [^]*every byte has to be the recorded one/,
      )
  })
})
