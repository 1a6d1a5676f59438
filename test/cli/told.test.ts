import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runOf } from '../../src/report/run.ts'
import { readFacts } from '../../src/recordings/tape-facts.ts'
import { parseTape, serializeTape, type Tape, type TapeHeader } from '../../src/tape/index.ts'
import { imported } from '../importers/samples.ts'
import { traceSamples } from '../importers/trace-samples.ts'

const prices = { 'gpt-5': { input: 1, output: 1 } }

function tapeOf(change: (header: TapeHeader) => TapeHeader = (header) => header): Tape {
  const { header, events, close } = imported(
    traceSamples.langsmith.replace(
      '"outputs":{"choices"',
      '"outputs":{"usage":{"prompt_tokens":9,"completion_tokens":3},"choices"',
    ),
  )
  return parseTape(serializeTape(change(header), events, close), 'sample')
}

describe('model calls that an imported trace tells of', () => {
  it('are counted with their tokens as those on other tapes are', () => {
    const { models, spending, steps } = runOf(tapeOf(), prices)
    expect(models).toEqual(['gpt-5'])
    expect(spending).toMatchObject({ modelCalls: 2, inputTokens: 9, outputTokens: 3, untold: 1 })
    expect(spending).not.toHaveProperty('costUsd')
    expect(steps.map(({ name }) => name)).toEqual(['lookup_order'])
  })

  it('are none on a tape of our own, where a mark of that name is the application’s', () => {
    const own = tapeOf(({ imported: _, ...header }) => header)
    expect(runOf(own, prices)).toMatchObject({ models: [], spending: { modelCalls: 0 } })
  })

  it('are in the list of tapes', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'harvest-'))
    try {
      const { header, events, close } = imported(traceSamples.langsmith)
      const file = join(folder, 'a.tape.jsonl')
      const text = serializeTape(header, events, close)
      writeFileSync(file, text)
      for (const bytes of [text.length, Infinity])
        expect(await readFacts(file, bytes)).toMatchObject({
          models: ['gpt-5'],
          tools: ['lookup_order'],
          usage: [{ asked: 'gpt-5', calls: 2 }],
        })
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
