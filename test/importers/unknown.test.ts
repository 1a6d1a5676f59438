import { describe, expect, it } from 'vitest'
import { HarvestError } from '../../src/errors/index.ts'
import { imported, samples } from './samples.ts'

/** What a refusal says of a file: its problem, and the format it comes nearest to. */
function refused(content: string): readonly [problem: string, nearest: string] {
  try {
    imported(content)
  } catch (error) {
    if (!HarvestError.is(error, 'HARVEST_IMPORT_UNKNOWN')) throw error
    const { where = {}, fix = [] } = error.facts
    const nearest = where['nearest format'] ?? ''
    expect(fix[0]).toContain(`--format ${nearest === 'none' ? 'vcrpy' : nearest}`)
    return [where['problem'] ?? '', nearest]
  }
  throw new Error('it was imported')
}

describe('a file of no known format is refused as that, with the nearest format', () => {
  it('a cassette of a WebSocket', () => {
    const content = `version: 1
interactions:
- kind: message
  direction: sent
  data: {type: session.update}
  offset: 0.1
- kind: message
  direction: received
  data: {type: session.created}
`
    expect(refused(content)).toEqual(['no known format: frames of a WebSocket, and no HTTP calls', 'vcrpy'])
  })

  it('a cassette of gRPC', () => {
    const content = `version: 1
interactions:
- request_sample:
    json: {model: grok-4}
    raw: !!binary CiIKHg==
  response_sample:
    json: {id: one}
    raw: !!binary CiIKHg==
`
    expect(refused(content)).toEqual(['no known format: calls of gRPC, and no HTTP calls', 'vcrpy'])
  })

  it('the MCP log of Claude Desktop', () => {
    const content = `2025-03-04T05:06:07.890Z [info] [orders] Initializing server...
2025-03-04T05:06:08.090Z [info] [orders] Message from client: {"method":"initialize","params":{},"jsonrpc":"2.0","id":0}
2025-03-04T05:06:08.190Z [info] [orders] Message from server: {"jsonrpc":"2.0","id":0,"result":{}}
`
    const problem = 'no known format: JSON-RPC messages on lines without STDIN: or STDOUT: before them'
    expect(refused(content)).toEqual([problem, 'mcp-log'])
  })

  it('one line of such a log, which YAML takes for a map, in a file of Windows too', () => {
    const line =
      '2025-03-04T05:06:08.090Z [info] [orders] Message from client: {"jsonrpc":"2.0","id":0,"method":"initialize"}'
    const problem = 'no known format: JSON-RPC messages on lines without STDIN: or STDOUT: before them'
    for (const content of [line, `\uFEFF${line}\r\n`]) expect(refused(content)).toEqual([problem, 'mcp-log'])
  })

  it('a cassette that begins with a frame; one among calls of HTTP is named by its place', () => {
    const frame = '- {kind: message, direction: sent, data: x}\n'
    const call = '- {request_sample: {json: {}, raw: x}, response_sample: {json: {}, raw: x}}\n'
    const [head, rest] = samples.vcrpy.split(/(?<=interactions:\n)/) as [string, string]
    expect(refused(head + frame + rest)).toEqual(['no known format: frames of a WebSocket, and no HTTP calls', 'vcrpy'])
    for (const [format, other, kind] of [
      ['vcrpy', frame, 'frames of a WebSocket'],
      ['vcrpy', call, 'calls of gRPC'],
      ['go-vcr', frame, 'frames of a WebSocket'],
    ] as const) {
      const content = samples[format].replace(/(?=version: 1\n$)|$(?![\s\S])/, other)
      expect(() => imported(content)).toThrow(new RegExp(`interactions\\[1\\]\n[^\n]*${kind}, and no HTTP call`))
    }
  })

  it('a HAR with the frames of a WebSocket says so', () => {
    const har = samples.har.replaceAll('https://', 'wss://')
    expect(() => imported(har)).toThrow(/entries\[0\].request.url[\s\S]*is a WebSocket: its frames cannot be imported/)
  })

  it.for(['hello\n', 'hello\r\n', '\uFEFFhello', '--- hello\n', '"hello"', '17', 'null'])(
    'a file that is one word: %j',
    (content) => {
      expect(refused(content)).toEqual(['no known format: one value, and no list or map', 'none'])
    },
  )

  it('an empty file', () => {
    expect(refused(' \n')).toEqual(['no known format: it is empty', 'none'])
  })

  it('lines of text', () => {
    expect(refused('2025-03-04 ready: [orders]\n\tand: {waiting\n')).toEqual([
      'no known format: neither JSON nor YAML',
      'none',
    ])
  })

  it('a map of other names, and one with most names of a format', () => {
    expect(refused('{"name":"x","version":"1.0.0"}')).toEqual(['no known format: its fields have other names', 'none'])
    const renamed = samples.har.replace('"entries"', '"calls"')
    expect(refused(renamed)).toEqual(['no known format: no entries', 'har'])
  })

  it('JSON-RPC messages that do not say which way they went', () => {
    const content = ['initialize', 'tools/list'].map((method) => JSON.stringify({ jsonrpc: '2.0', id: 1, method }))
    expect(refused(content.join('\n'))).toEqual(['no known format: no direction', 'mcp-jsonl'])
  })

  it('and one with a mistake in it stays a recording with a mistake', () => {
    expect(() => imported(samples.vcrpy.replace('uri: ', 'uri: [unclosed, '))).toThrow('HARVEST_IMPORT_SYNTAX')
  })
})
