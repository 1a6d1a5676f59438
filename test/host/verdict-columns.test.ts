import { expect, test } from 'vitest'
import { specs } from '../../src/cli/spec/index.ts'
import { columns, withoutColumn } from './verdict-columns.ts'

test('each command says a verdict in a column of the table, or the table says why it has none', () => {
  const commandOf = (column: string): readonly string[] => /^npx vitest-harvest (\w+)/.exec(column)?.slice(1) ?? []
  const inTable = new Set(columns.flatMap(commandOf))
  const named = [...inTable, ...Object.keys(withoutColumn)]
  expect(named.toSorted()).toEqual(specs.map(({ name }) => name).toSorted())
})
