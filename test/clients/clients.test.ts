import { beforeAll, afterAll, describe, expect, test } from 'vitest'
import { clientAgents } from '../../fixtures/agents/index.ts'
import { type ClientRow, printRows, runClients } from './suite.ts'

describe('recorded with its provider alive, replayed in a new process with the provider gone', () => {
  let rows: readonly ClientRow[] = []
  beforeAll(async () => {
    rows = await runClients()
  })
  afterAll(() => console.log(printRows(rows)))

  test.for(clientAgents)(
    '%s gives the same result, sends the same bytes and reaches no socket, confined or not',
    (name) => {
      const row = rows.find((one) => one.name === name)
      expect(row?.failures).toEqual([])
    },
  )
})
