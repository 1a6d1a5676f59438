import { join } from 'node:path'
import { expect, test } from 'vitest'
import { casesOfTape, promote, queryTapes } from '../../src/recordings/index.ts'
import { age } from './files-in-past.ts'
import { put, putTape, scratch } from './make.ts'

/** A golden set of so many tapes that an index is asked for them, and a promoted run with its case. */
function manyTapes(): { readonly recordings: string; readonly tape: string } {
  const recordings = scratch()
  for (let n = 0; n < 200; n++) putTape(recordings, `golden/others/other-${n}`, { header: { id: `other-${n}` } })
  const tape = putTape(recordings, 'inbox/run-1', { header: { id: 'run-1' } })
  promote({ recordings, tape, as: 'refund' })
  return { recordings, tape }
}

async function casesOf(recordings: string, tape: string, id: string): Promise<readonly string[]> {
  const { present, former } = await casesOfTape(recordings, tape, id)
  return [...present, ...former].map((one) => one.id)
}

test('the case of a run is found with an index, without one, and with one that knows another golden set', async () => {
  const { recordings, tape } = manyTapes()
  expect(await casesOf(recordings, tape, 'run-1'), 'without an index').toEqual(['refund'])
  expect(await casesOf(recordings, tape, 'run-2'), 'of a run without a case').toEqual([])
  age(recordings)
  await queryTapes(recordings)
  expect(await casesOf(recordings, tape, 'run-1'), 'with an index').toEqual(['refund'])
  expect(await casesOf(recordings, tape, 'run-2'), 'of a run without a case, with an index').toEqual([])
  const later = putTape(recordings, 'inbox/run-2', { header: { id: 'run-2' } })
  promote({ recordings, tape: later, as: 'later' })
  expect(await casesOf(recordings, later, 'run-2'), 'promoted after the index was made').toEqual(['later'])
  put(recordings, 'inbox/.index/tapes.sqlite', 'no database')
  expect(await casesOf(recordings, tape, 'run-1'), 'with an index that is damaged').toEqual(['refund'])
})

test('the case that has this very tape comes before one that has a copy of it', async () => {
  const recordings = scratch()
  const tape = putTape(recordings, 'inbox/run-1', { header: { id: 'run-1' } })
  promote({ recordings, tape, as: 'copy' })
  promote({ recordings, tape, as: 'own' })
  expect(await casesOf(recordings, join(recordings, 'golden/own.tape.jsonl'), 'run-1')).toEqual(['own', 'copy'])
})
