import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { fromJSONSchema } from 'zod'
import { caseSchema, isCaseId, parseCase } from '../../src/cases/index.ts'
import { HarvestError } from '../../src/errors/index.ts'
import { driftClasses, matchLevels } from '../../src/match/types.ts'
import { argsModes, traceModes } from '../../src/trace/types.ts'
import { contentOf, full } from './samples.ts'

type Data = Record<string, unknown>

const schema = fromJSONSchema(caseSchema as unknown as Parameters<typeof fromJSONSchema>[0])
const least: Data = { case: 'a', agent: 'a', tape: 'a.tape.jsonl', expect: 'pass' }

/** Whether the validator takes data, told by what it says of the same data as YAML. */
function isAccepted(data: unknown): boolean {
  try {
    parseCase(stringify(data, { aliasDuplicateObjects: false }), 'a.case.yaml')
    return true
  } catch (error) {
    // Calls in a baseline have a grammar that no JSON schema can tell.
    if (HarvestError.is(error)) return error.code === 'HARVEST_CASE_BASELINE'
    throw error
  }
}

describe('what the schema tells editors is what loads:', () => {
  const corpus: Data[] = [
    least,
    {},
    { ...least, case: 'A' },
    { ...least, case: 'con' },
    { ...least, case: 5 },
    { ...least, case: 'a'.repeat(128) },
    { ...least, case: 'a'.repeat(129) },
    { ...least, agent: '' },
    { ...least, agent: 'a\nb' },
    { ...least, tape: '../a.tape.jsonl' },
    { ...least, tape: 'a.tape.jsonl.txt' },
    { ...least, expect: 'maybe' },
    { ...least, expect: null },
    { ...least, title: 5 },
    { ...least, title: '' },
    { ...least, tags: ['golden', 'a b'] },
    { ...least, tags: ['not'] },
    { ...least, tags: 'golden' },
    { ...least, tags: [] },
    { ...least, lesson: { wrong: 'x' } },
    { ...least, lesson: { worng: 'x' } },
    { ...least, lesson: null },
    {
      ...least,
      pins: { commit: 'abc', dirty: true, models: ['m'], prompt: 'p', tools: 't', node: 'n', recorder: 'r' },
    },
    { ...least, pins: { dirty: 'yes' } },
    { ...least, pins: { models: [''] } },
    { ...least, pins: { model: 'm' } },
    { ...least, match: {} },
    { ...least, match: { trace: 'strict', args: 'ignore', tools: {} } },
    { ...least, match: { trace: 'exact' } },
    { ...least, match: { args: ['a'] } },
    { ...least, match: { tools: { a: 'exact', b: { args: 'ignore' }, c: { args: ['x'] }, d: { args: [] } } } },
    { ...least, match: { tools: { a: 'causal' } } },
    { ...least, match: { tools: { a: {} } } },
    { ...least, match: { tools: { a: { args: 'x' } } } },
    { ...least, match: { tools: { a: { args: [1] } } } },
    { ...least, match: { tools: { a: ['x'] } } },
    { ...least, match: { tools: { a: { args: 'keys', more: 1 } } } },
    { ...least, drift: 'fail' },
    { ...least, drift: 'warn' },
    { ...least, drift: { messages: 'fail' } },
    { ...least, drift: { message: 'fail' } },
    { ...least, drift: { messages: true } },
    { ...least, escapes: { allow: [] } },
    { ...least, escapes: {} },
    { ...least, escapes: { allow: [''] } },
    { ...least, serve: 'canonical' },
    { ...least, serve: 'loose' },
    { ...least, timeout: 1 },
    { ...least, timeout: 0 },
    { ...least, timeout: 3_600_000 },
    { ...least, timeout: 3_600_001 },
    { ...least, timeout: 1e300 },
    { ...least, timeout: 1.5 },
    { ...least, timeout: '5s' },
    { ...least, baseline: [] },
    { ...least, baseline: ['a()', ['b()', 'c()']] },
    { ...least, baseline: [''] },
    { ...least, baseline: [[]] },
    { ...least, baseline: [['']] },
    { ...least, baseline: [[['a()']]] },
    { ...least, baseline: [{ a: 1 }] },
    { ...least, baseline: 'a()' },
    { ...least, rules: ['never a()'] },
    { ...least, rules: [''] },
    { ...least, rules: [1] },
    { ...least, outcome: null },
    { ...least, outcome: { a: [1, { b: 'c' }] } },
    { ...least, approved: { reason: 'r', by: 'b', at: '2026-11-20' } },
    { ...least, approved: { when: 'now' } },
    { ...least, unknown: 1 },
  ]
  test.each(corpus.map((data) => [JSON.stringify(data), data] as const))('%s', (_, data) => {
    expect(isAccepted(data)).toBe(schema.safeParse(data).success)
  })

  test('and for every case with one thing changed', () => {
    const { id, ...rest } = contentOf(full)
    const data = JSON.parse(JSON.stringify({ case: id, ...rest })) as Data
    const values = fc.constantFrom<unknown>(
      null,
      true,
      0,
      -1,
      2.5,
      '',
      'a',
      'fail',
      'keys',
      'exact',
      [],
      ['a'],
      [[]],
      [1],
      {},
      { a: 'a' },
      { args: 'keys' },
    )
    const paths = pathsOf(data)
    fc.assert(
      fc.property(fc.constantFrom(...paths), values, fc.constantFrom('set', 'add', 'remove'), (path, value, change) => {
        const changed = withChange(data, path, value, change)
        expect(isAccepted(changed), JSON.stringify(changed)).toBe(schema.safeParse(changed).success)
      }),
      { numRuns: 1_000 },
    )
  })
})

test('the schema that is shipped is the schema of the code', () => {
  const shipped = readFileSync(new URL('../../case.schema.json', import.meta.url), 'utf8')
  expect(JSON.parse(shipped)).toEqual(caseSchema)
})

test('the words of a case file are those of the rooms that use them', () => {
  const { match, drift, serve } = caseSchema.properties
  expect(match?.properties?.['trace']?.enum).toEqual(traceModes)
  expect(match?.properties?.['args']?.enum).toEqual(argsModes)
  expect(serve?.enum).toEqual(matchLevels)
  expect(Object.keys(drift?.anyOf?.[1]?.properties ?? {})).toEqual(driftClasses)
})

test('for every id, its file stays inside the folder and can be made on every system', () => {
  const pieces = fc.constantFrom(
    'a',
    'z',
    '0',
    '.',
    '..',
    '-',
    '_',
    '/',
    '\\',
    ':',
    '\0',
    ' ',
    'A',
    'é',
    'con',
    'nul',
    'com1',
    '\n',
    '%2e',
  )
  const ids = fc.oneof(
    fc.string(),
    fc.array(pieces, { maxLength: 6 }).map((all) => all.join('')),
  )
  fc.assert(
    fc.property(ids, (id) => {
      if (!isCaseId(id)) return
      expect(id).toMatch(/^[a-z0-9][a-z0-9._-]*$/)
      expect(id.split('.')[0]).not.toMatch(/^(con|prn|aux|nul|com\d|lpt\d)$/)
    }),
    { numRuns: 10_000 },
  )
})

function pathsOf(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null || path[0] === 'outcome')
    return [path].filter(({ length }) => length > 0)
  const own = path.length > 0 ? [path] : []
  return [...own, ...Object.keys(value).flatMap((key) => pathsOf((value as Data)[key], [...path, key]))]
}

function withChange(data: Data, path: readonly string[], value: unknown, change: 'set' | 'add' | 'remove'): Data {
  const copy = structuredClone(data)
  const parent = path.slice(0, -1).reduce((node, key) => node[key] as Data, copy)
  const last = path.at(-1) ?? ''
  if (change === 'set') parent[last] = value
  else if (Array.isArray(parent))
    parent.splice(Number(last), change === 'remove' ? 1 : 0, ...(change === 'add' ? [value] : []))
  else if (change === 'add') parent['extra'] = value
  else delete parent[last]
  return copy
}
