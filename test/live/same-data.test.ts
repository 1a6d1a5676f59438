import { expect, test } from 'vitest'
import { sameData } from '../../src/live/same-data.ts'

const note = (text: string) => ({ to: 'desk', text })

test.for<[recorded: string, live: string]>([
  ['please look into this order', 'would you check this order'],
  ['refund 25 EUR for A-100 please', 'a refund of 25 EUR is due: A-100 please'],
  ['Bitte die Bestellung A-100 prüfen', 'Prüfen Sie die Bestellung A-100'],
])('a sentence worded anew around the same marked pieces carries the same data: %s', ([recorded, live]) => {
  expect(sameData(note(recorded), note(live))).toBe(true)
})

test.for<[recorded: unknown, live: unknown]>([
  ['git pull', 'git push'],
  ['refund 25 EUR for the order', 'refund 2500 EUR for the order'],
  ['ask "yes or no" in the mail', 'ask "no or yes" in the mail'],
  ['write to a@shop.example about it', 'write to b@shop.example about it'],
  ['that costs € much more', 'that costs $ much more'],
  [25, 26],
  [true, false],
  [null, 'nothing at all here'],
  [['a'], ['a', 'b']],
  [{ id: 'A-1' }, { id: 'A-2' }],
  [{ id: 'A-1' }, { id: 'A-1', force: true }],
])('other data is other data: %j and %j', ([recorded, live]) => {
  expect(sameData(recorded as never, live as never)).toBe(false)
})
