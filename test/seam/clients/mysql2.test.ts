import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { encodeValue, type Tape } from '../../../src/tape/index.ts'
import { replayed } from './both.ts'
import { everything } from './mysql2.agent.ts'

// Recorded at a server of MariaDB, of which npm has none: `node scripts/real-clients.ts --write`.
const tape = JSON.parse(readFileSync(new URL('mysql2.answers.json', import.meta.url), 'utf8')) as Tape

test('what mysql2 answered is answered the same without a server', async () => {
  const again = await replayed(tape, everything)
  expect(again.problems.map(({ message }) => message)).toEqual([])
  expect(again.outcome.status === 'returned' && encodeValue(again.outcome.value)).toEqual(
    tape.close?.outcome.status === 'returned' && tape.close.outcome.value,
  )
  expect(again.reached).toBe(0)
})
