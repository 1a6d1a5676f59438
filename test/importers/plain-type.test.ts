import { describe, expect, it } from 'vitest'
import { withPlainType } from '../../src/importers/plain-type.ts'

const typeOf = (body: string, headers: readonly (readonly [string, string])[] = []) =>
  withPlainType(
    headers,
    // In two pieces: what is plain is seen over all of them.
    [Buffer.from(body.slice(0, 3)), Buffer.from(body.slice(3))],
  ).find(([name]) => name === 'content-type')?.[1]

describe('the type of a response that the recording left out', () => {
  it.each([
    ['{"id": 1}', 'application/json'],
    ['\n [1, 2]\n', 'application/json'],
    ['data: {"a":1}\n\ndata: [DONE]\n\n', 'text/event-stream'],
    [': ping\nevent: message_start\ndata: {}\n\n', 'text/event-stream'],
    ['event: a\r\ndata: {}\r\n\r\n', 'text/event-stream'],
    ['data\ndata: {}\n\n', 'text/event-stream'],
    ['\uFEFF{"id": 1}', 'application/json'],
    ['\uFEFFdata: {}\n\n', 'text/event-stream'],
  ])('is supplied for %j', (body, type) => {
    expect(typeOf(body)).toBe(type)
  })

  it.each([
    [''],
    ['hello'],
    ['"text"'],
    ['12'],
    ['{"id": 1'],
    ['data: 1\nhello'],
    ['event: a\n\n'],
    ['<html>'],
    ['{"a":1}\n{"b":2}'],
  ])('is left out for %j, which is not plainly either', (body) => {
    expect(typeOf(body)).toBeUndefined()
  })

  it('is never replaced', () => {
    expect(typeOf('{}', [['content-type', 'text/plain']])).toBe('text/plain')
  })

  it('is supplied where its header has no value', () => {
    expect(withPlainType([['content-type', ' ']], [Buffer.from('{}')])).toEqual([['content-type', 'application/json']])
  })
})
