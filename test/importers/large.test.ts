import { describe, expect, it } from 'vitest'
import { cutJson } from '../../src/importers/json-items.ts'
import { yamlTokenCap } from '../../src/importers/limits.ts'
import { cassette, exchangesOf, imported } from './samples.ts'

const cut = (text: string) => cutJson(Buffer.from(text), 'sample', 0)
const values = (text: string): unknown => Array.from(cut(text)?.items() ?? [], ({ value }) => value)

describe('a large JSON document', () => {
  it.each([
    ['interactions', (list: string) => `{"interactions": ${list}, "version": 1}`],
    ['entries of a log', (list: string) => `{"log":{"version":"1.2","x":["]"],"entries":${list}}}`],
    ['a list of nock', (list: string) => ` ${list}\n`],
  ])('is read item by item: %s', (_, holding) => {
    const items = [{ scope: 'a', text: 'é “,]}\\" \n' }, { scope: 'b', list: [[1, { c: ',' }], 2] }, { scope: '' }]
    const text = holding(JSON.stringify(items, undefined, 1))
    expect(values(text)).toEqual(items)
    expect(cut(text)?.rest.value).toEqual(JSON.parse(holding('[]')))
  })

  it('has no items when its list is empty', () => {
    expect(values('{"interactions":[ ]}')).toEqual([])
  })

  it('is read whole when its list is no list of calls, or stands there twice', () => {
    expect(cut('[{"name":"x"},{"scope":1}]')).toBeUndefined()
    expect(cut('{"interactions":[{"a":1}],"interactions":[{"a":2}]}')).toBeUndefined()
    expect(cut('{"interactions":[{"a":1}')).toBeUndefined()
  })

  it('says where something is wrong as it does of a small one', () => {
    const text = '{"interactions":[\n{"a":1},\n{"b":\n[2]}\n],\n"version":{}}'
    const [, second] = cut(text)!.items()
    expect(second!.at('b').position).toEqual({ file: 'sample', at: 'interactions[1].b', line: 4 })
    expect(cut(text)!.rest.at('version').position).toEqual({ file: 'sample', at: 'version', line: 6 })
    expect(() => values('{"interactions":[{"a":1},\n]}')).toThrow(/sample:2/)
  })
})

describe('a large YAML document', () => {
  it('may have more lines than one call has parts, and says where something is wrong behind them', () => {
    const [head = '', call = '', tail = ''] = cassette(`|\n${'        x\n'.repeat(yamlTokenCap / 4)}`).split(
      /(?<=interactions:\n)|(?=version: 1)/,
    )
    const text = `${head}${call.repeat(5)}`
    expect(exchangesOf(imported(text + tail))).toHaveLength(5)
    const line = text.split('\n').length
    expect(() => imported(`${text}version: 7\n`)).toThrow(`sample:${line}`)
    expect(() => imported(`${text}version: [\n`)).toThrow(`sample:${line + 1}`)
  })
})
