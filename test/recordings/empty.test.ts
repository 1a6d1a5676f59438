import { expect, it } from 'vitest'
import { refuseEmpty } from '../../src/recordings/promotable.ts'
import type { Tape, TapeClose } from '../../src/tape/index.ts'
import { tapeOf } from '../replay/tapes.ts'

const empty = tapeOf([])

function refusal(tape: Tape): string {
  try {
    refuseEmpty(tape, {})
  } catch (error) {
    return (error as Error).message
  }
  return 'nothing'
}

const closed = (close: Partial<TapeClose>): Tape => ({ ...empty, close: { ...empty.close!, ...close } })

it('a tape without a step is refused for what it does hold', () => {
  expect(refusal(empty)).toContain('asked no model and called no tool')
  const late = refusal(closed({ late: [{ kind: 'request', name: 'POST http://models.test' }] }))
  expect(late).toMatch(
    /made its requests after it had returned[^]*after it +POST http:\/\/models\.test[^]*→ read what the agent returns/,
  )
  const listening = refusal({ ...empty, events: [{ kind: 'spawn', n: 0, at: 0, command: ['node', 'say.js'] }] })
  expect(listening).toMatch(
    /said nothing to the process it started[^]*started +node say\.js[^]*→ wrap the function that starts it/,
  )
  const threw = refusal(closed({ outcome: { status: 'threw', error: 'no' } }))
  expect(threw).toMatch(/threw before its first step[^]*→ fix what it threw/)
})
