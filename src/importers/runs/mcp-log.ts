import { isUtf8 } from 'node:buffer'
import { messageOf, type RpcMessage } from '../../seam/stdio.ts'
import type { Cursor } from '../cursor.ts'
import { type BytesFormat, type ForeignFormat, itemsAt, listed } from '../document.ts'
import { callCap } from '../limits.ts'
import { refusal } from '../refusal.ts'
import type { ForeignLine, ForeignRecording } from '../types.ts'
import { epochMs, timeOf } from './values.ts'

/**
 * The log of an MCP server over stdio: what it read on lines with `STDIN: `, what it wrote on lines with `STDOUT: `,
 * and its notes on lines with `STDERR: `.
 *
 * @see https://github.com/block/goose, crates/goose/tests/mcp_integration_test.rs; the MCP specification, Transports, stdio
 */
export const mcpLog: BytesFormat = {
  name: 'mcp-log',
  // What the server noted may come first, over several lines.
  recognisesBytes: (bytes) => /^STD(?:IN|OUT): \{.*"jsonrpc"/m.test(bytes.toString('utf8', 0, 65_536)),
  readBytes(bytes, file) {
    if (!isUtf8(bytes)) throw refusal('HARVEST_IMPORT_SHAPE', { file, byte: 0 }, 'it is not text')
    const lines: ForeignLine[] = []
    for (const [index, text] of bytes.toString('utf8').split('\n').entries()) {
      const [, stream, said] = /^STD(IN|OUT): (.*?)\r?$/.exec(text) ?? []
      // Notes of the server go on over several lines, and no client reads them.
      if (stream === undefined || said === undefined || messageOf(said) === undefined) continue
      if (lines.length >= callCap)
        throw refusal('HARVEST_IMPORT_TOO_LARGE', { file, line: index + 1 }, `more than ${callCap} messages`)
      lines.push({ from: stream === 'IN' ? 'client' : 'server', text: said })
    }
    return { format: 'mcp-log', exchanges: [], lines }
  },
}

/** JSON Lines with a JSON-RPC message and the direction it went in each. Who the client is, the methods tell. */
export const mcpJsonLines: ForeignFormat = {
  name: 'mcp-jsonl',
  recognises(document) {
    let looked = 0
    for (const line of document.root.isMap ? [document.root] : itemsAt(document)) {
      if (directionOf(line) !== undefined && rpcIn(line) !== undefined) return true
      // Some begin with a line about the session.
      if (++looked === 3 || rpcIn(line) !== undefined) return false
    }
    return false
  },
  read: (document) => {
    const { root } = document
    return recordingOf(root, root.isMap ? [root] : listed(itemsAt(document), (line) => line))
  },
}

function recordingOf(root: Cursor, lines: readonly Cursor[]): ForeignRecording {
  const messages = lines.flatMap((line) => {
    const message = rpcIn(line)
    return message === undefined ? [] : [{ line, message, direction: directionOf(line) }]
  })
  const own = messages.find(({ message }) => ofClients.has(message.method ?? ''))
  if (own === undefined) throw (lines[0] ?? root).refuse('it has no initialize, list or call, so its client is unknown')
  return {
    format: 'mcp-jsonl',
    exchanges: [],
    lines: messages.map(({ line, message, direction }): ForeignLine => {
      if (direction === undefined) throw line.refuse('it does not say in which direction the message went')
      const startedMs = momentOf(line)
      return {
        from: direction === own.direction ? 'client' : 'server',
        text: JSON.stringify(message),
        isRewritten: true,
        ...(startedMs === undefined ? {} : { startedMs }),
      }
    }),
  }
}

/** Methods that clients alone ask for. */
const ofClients: ReadonlySet<string> = new Set([
  'initialize',
  'notifications/initialized',
  'tools/list',
  'tools/call',
  'resources/list',
  'resources/read',
  'prompts/list',
  'prompts/get',
])

function directionOf(line: Cursor): string | undefined {
  return ['direction', 'dir', 'stream', 'from', 'source', 'sender']
    .map((key) => line.at(key).maybeText)
    .find((text) => text !== undefined)
}

/** The message, inside the line or as the text of one of its fields. */
function rpcIn(line: Cursor): RpcMessage | undefined {
  for (const key of ['message', 'payload', 'data', 'msg', 'body', 'json', 'raw', 'line']) {
    const field = line.at(key)
    if (field.at('jsonrpc').value === '2.0') return field.value as RpcMessage
    const read = messageOf(field.maybeText ?? '')
    if (read !== undefined) return read
  }
  return undefined
}

function momentOf(line: Cursor): number | undefined {
  for (const key of ['timestamp', 'ts', 'time', 'at']) {
    const number = line.at(key).maybeNumber
    // Seconds until the year 2286 have ten digits, milliseconds thirteen.
    const ms = number === undefined || number >= 1e11 ? number : number * 1000
    const moment = epochMs(ms) ?? timeOf(line.at(key))
    if (moment !== undefined) return moment
  }
  return undefined
}
