import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { HarvestError } from '../../src/errors/index.ts'
import { applyJsonPatch, type JsonPatchOperation, readJsonPatch } from '../../src/fork/json-patch.ts'
import type { Json } from '../../src/tape/index.ts'

/** RFC 6902, appendix A; those that must fail have no outcome. */
const published: readonly (readonly [name: string, document: Json, patch: Json, outcome: Json | undefined])[] = [
  ['A.1', { foo: 'bar' }, [{ op: 'add', path: '/baz', value: 'qux' }], { baz: 'qux', foo: 'bar' }],
  ['A.2', { foo: ['bar', 'baz'] }, [{ op: 'add', path: '/foo/1', value: 'qux' }], { foo: ['bar', 'qux', 'baz'] }],
  ['A.3', { baz: 'qux', foo: 'bar' }, [{ op: 'remove', path: '/baz' }], { foo: 'bar' }],
  ['A.4', { foo: ['bar', 'qux', 'baz'] }, [{ op: 'remove', path: '/foo/1' }], { foo: ['bar', 'baz'] }],
  ['A.5', { baz: 'qux', foo: 'bar' }, [{ op: 'replace', path: '/baz', value: 'boo' }], { baz: 'boo', foo: 'bar' }],
  [
    'A.6',
    { foo: { bar: 'baz', waldo: 'fred' }, qux: { corge: 'grault' } },
    [{ op: 'move', from: '/foo/waldo', path: '/qux/thud' }],
    { foo: { bar: 'baz' }, qux: { corge: 'grault', thud: 'fred' } },
  ],
  [
    'A.7',
    { foo: ['all', 'grass', 'cows', 'eat'] },
    [{ op: 'move', from: '/foo/1', path: '/foo/3' }],
    { foo: ['all', 'cows', 'eat', 'grass'] },
  ],
  [
    'A.8',
    { baz: 'qux', foo: ['a', 2, 'c'] },
    [
      { op: 'test', path: '/baz', value: 'qux' },
      { op: 'test', path: '/foo/1', value: 2 },
    ],
    { baz: 'qux', foo: ['a', 2, 'c'] },
  ],
  ['A.9', { baz: 'qux' }, [{ op: 'test', path: '/baz', value: 'bar' }], undefined],
  [
    'A.10',
    { foo: 'bar' },
    [{ op: 'add', path: '/child', value: { grandchild: {} } }],
    { foo: 'bar', child: { grandchild: {} } },
  ],
  ['A.11', { foo: 'bar' }, [{ op: 'add', path: '/baz', value: 'qux', xyz: 123 }], { foo: 'bar', baz: 'qux' }],
  ['A.12', { foo: 'bar' }, [{ op: 'add', path: '/baz/bat', value: 'qux' }], undefined],
  ['A.14', { '/': 9, '~1': 10 }, [{ op: 'test', path: '/~01', value: 10 }], { '/': 9, '~1': 10 }],
  ['A.15', { '/': 9, '~1': 10 }, [{ op: 'test', path: '/~01', value: '10' }], undefined],
  ['A.16', { foo: ['bar'] }, [{ op: 'add', path: '/foo/-', value: ['abc', 'def'] }], { foo: ['bar', ['abc', 'def']] }],
]

function holdsNegativeZero(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return Object.is(value, -0)
  return Object.values(value).some(holdsNegativeZero)
}

describe('a JSON patch', () => {
  it.each(published)('does what RFC 6902 says in %s', (_, document, patch, outcome) => {
    const apply = (): Json => applyJsonPatch(document, readJsonPatch(JSON.stringify(patch)))
    if (outcome === undefined) expect(apply).toThrow(HarvestError)
    else expect(apply()).toEqual(outcome)
  })

  it('for every document, what is added at a new key and removed again leaves it as it was', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string(), fc.jsonValue(), (document, key, value) => {
        fc.pre(!Object.hasOwn(document, key))
        // JSON has no negative zero.
        fc.pre(!holdsNegativeZero(document))
        const path = `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
        const before = JSON.stringify(document)
        const added = applyJsonPatch(document as Json, [{ op: 'add', path, value: value as Json }])
        expect(Object.hasOwn(added as object, key)).toBe(true)
        expect(applyJsonPatch(added, [{ op: 'remove', path }])).toEqual(JSON.parse(before))
        expect(JSON.stringify(document)).toBe(before)
      }),
    )
  })

  it('a key that is a trap is a key like any other', () => {
    const patched = applyJsonPatch({ a: 1 }, [{ op: 'add', path: '/__proto__', value: { polluted: true } }])
    expect(Object.hasOwn(patched as object, '__proto__')).toBe(true)
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })

  it.each<[string, JsonPatchOperation]>([
    ['what is not there', { op: 'remove', path: '/b' }],
    ['a place behind the end', { op: 'add', path: '/list/3', value: 1 }],
    ['a place that is none', { op: 'add', path: '/list/01', value: 1 }],
    ['an item that is not there', { op: 'replace', path: '/list/2', value: 1 }],
    ['a value inside a number', { op: 'add', path: '/a/b', value: 1 }],
    ['a value into itself', { op: 'move', from: '/map', path: '/map/in' }],
    ['the whole', { op: 'remove', path: '' }],
    ['an inherited member', { op: 'test', path: '/constructor', value: 1 }],
  ])('%s is refused', (_, operation) => {
    const document = { a: 1, list: [1, 2], map: { in: 1 } }
    expect(() => applyJsonPatch(document, [operation])).toThrow(/HARVEST_FORK_PATCH/)
  })

  it('a refusal names the operation, what is there, and the key that was meant', () => {
    const operations = readJsonPatch(
      '[{ "op": "test", "path": "/a", "value": 1 }, { "op": "remove", "path": "/totl" }]',
    )
    expect(() => applyJsonPatch({ a: 1, total: 2 }, operations)).toThrowErrorMatchingInlineSnapshot(`
      [HarvestError: The JSON Patch does not apply to the recorded answer

        operation  2, {"op":"remove","path":"/totl"}
        because    there is no 'totl'
        there      a, total

      → did you mean: total
      (HARVEST_FORK_PATCH)]
    `)
  })

  it.each([
    ['no JSON', '[{'],
    ['no list', '{ "op": "remove", "path": "/a" }'],
    ['an operation there is not', '[{ "op": "delete", "path": "/a" }]'],
    ['no path', '[{ "op": "remove" }]'],
    ['a path that is no pointer', '[{ "op": "remove", "path": "a.b" }]'],
    ['no value', '[{ "op": "add", "path": "/a" }]'],
    ['no origin', '[{ "op": "move", "path": "/a" }]'],
  ])('%s is no patch', (_, text) => {
    expect(() => readJsonPatch(text)).toThrow(/Invalid JSON Patch/)
  })
})
