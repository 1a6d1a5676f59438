import { isUtf8 } from 'node:buffer'
import { decodeBody } from '../providers/index.ts'
import { parseJson } from '../json/canonical.ts'
import {
  type CallEvent,
  type ExchangeEvent,
  type HeaderPair,
  isCut,
  isStep,
  type Json,
  type MaybeCut,
  requestBytes,
  responseBytes,
  type Step,
  streamTape,
} from '../tape/index.ts'
import { confidenceText } from './confidence.ts'
import { duration, headerOf, size } from './describe.ts'
import type { Screen } from './output.ts'
import { foldText } from './fold.ts'
import { counted } from '../errors/words.ts'
import { openText, type RunStep } from './run.ts'
import { callSpendingText } from './spending.ts'

/** The event of a step, bodies and all. */
export async function readStep(file: string, { n }: RunStep): Promise<Step> {
  for await (const line of streamTape(file)) if (line.kind !== 'close' && line.n === n && isStep(line)) return line
  throw new Error(`the tape ${file} had a step with the number ${n} a moment ago`)
}

/** Both bodies of a step as programs want them: JSON where they are, text where they can be, else base64. */
export function bodiesOf(event: Step): { readonly request?: Json; readonly response?: Json } {
  if (event.kind !== 'exchange') return {}
  const { request, response } = event
  return {
    ...(request.body === undefined ? {} : { request: bodyJson(decoded(requestBytes(event), request.headers)) }),
    ...(response === undefined ? {} : { response: bodyJson(decoded(responseBytes(event), response.headers)) }),
  }
}

function bodyJson(bytes: Uint8Array): Json {
  if (!isUtf8(bytes)) return { base64: Buffer.from(bytes).toString('base64') }
  const text = new TextDecoder().decode(bytes)
  return parseJson(text) ?? text
}

/** Prints one step whole: addresses, headers, bodies decoded and laid out, times of the pieces. */
export function printStep(event: Step, step: RunStep, hasTimes: boolean, width: number, screen: Screen): void {
  const { number, kind, name, lane, atMs, tookMs, site, inside, during, isOpen, retryOf, confidence } = step
  const fact = (label: string, text: string): void => {
    const [first = '', ...more] = foldText(text, { width: width - 10 })
    screen.line(`${screen.paint('dim', label.padEnd(8))}  ${first}`)
    for (const row of more) screen.line(`${' '.repeat(10)}${row}`)
  }
  screen.line(screen.paint('bold', foldText(`step ${number}  ${kind}  ${name}`, { width, lines: 1 })[0] ?? ''))
  fact(
    'began',
    hasTimes ? `+${duration(atMs)}${tookMs === undefined ? '' : `, took ${duration(tookMs)}`}` : 'time not recorded',
  )
  if (kind === 'model') fact('usage', callSpendingText(step))
  fact('agent', lane)
  if (retryOf !== undefined) fact('retry', `of step ${retryOf}, which failed`)
  if (confidence !== undefined) fact('sure', confidenceText(confidence))
  if (site !== undefined) fact('from', site)
  if (inside !== undefined) fact('inside', `step ${inside}`)
  if (during.length > 0 && hasTimes) fact('beside', `step ${during.join(', ')}`)
  if (isOpen) fact('open', openText(step))
  if (event.kind === 'exchange') printExchange(event, step, width, screen)
  else printCall(event, width, screen)
}

function printExchange(event: ExchangeEvent, step: RunStep, width: number, screen: Screen): void {
  const { method, url, via, request, response, error, aborted } = event
  title(`request  ${method} ${url}  (${via})`, width, screen)
  printHeaders(request.headers, width, screen)
  printBody(decoded(requestBytes(event), request.headers), width, screen)
  printCut(request, screen)
  if (response !== undefined) {
    const { status, statusText = '', headers, chunks, moment } = response
    const pieces = `${counted(chunks.length, 'piece')}, ${size(responseBytes(event).length)}`
    const first = `first byte after ${duration(moment[1] - event.at)}`
    title(`response  ${status} ${statusText}`.trimEnd() + `  (${first}; ${pieces})`, width, screen)
    printHeaders(headers, width, screen)
    printBody(decoded(responseBytes(event), headers), width, screen)
    printCut(response, screen)
  }
  if ((step.pieces ?? 0) > 1 && step.kind === 'model') {
    title('put together', width, screen)
    const { reasoning = [], answer = [], toolCalls } = step
    printText([reasoning, answer, toolCalls].flat().join('\n'), width, screen)
  }
  if (error !== undefined) bad(`${error.name}: ${error.message}${error.code === undefined ? '' : ` (${error.code})`}`)
  if (aborted !== undefined) bad(`the client gave up after ${duration(aborted[1] - event.at)}`)

  function bad(text: string): void {
    title('error', width, screen)
    for (const row of foldText(text, { width: width - 2 })) screen.line(`  ${screen.paint('red', row)}`)
  }
}

function printCut({ cut, whole }: MaybeCut, screen: Screen): void {
  if (cut === undefined || whole === undefined) return
  const text = `cut by the recorder: ${cut} of ${whole.size} bytes are not on the tape, behind byte ${whole.at}`
  screen.line(screen.paint('red', `  (${text})`))
}

function printCall({ args, result, error, yields }: CallEvent, width: number, screen: Screen): void {
  title('arguments', width, screen)
  printValue(args, width, screen)
  for (const [, atMs, value] of yields ?? []) {
    title(`piece at +${duration(atMs)}`, width, screen)
    printValue(value, width, screen)
  }
  if (result !== undefined) {
    title('result', width, screen)
    printValue(result, width, screen)
  }
  if (error !== undefined) {
    title('error', width, screen)
    printValue(error, width, screen)
  }
}

function title(text: string, width: number, screen: Screen): void {
  screen.line()
  for (const row of foldText(text, { width })) screen.line(screen.paint('bold', row))
}

function printHeaders(headers: readonly HeaderPair[], width: number, screen: Screen): void {
  for (const [name, value] of headers)
    for (const row of foldText(`${name}: ${value}`, { width: width - 2 })) screen.line(screen.paint('dim', `  ${row}`))
}

function printValue(value: Json, width: number, screen: Screen): void {
  if (isCut(value)) {
    const { head, tail, cut, size } = value
    printText(head, width, screen)
    printCut({ cut, whole: { size, at: Buffer.byteLength(head), window: 0 } }, screen)
    return printText(tail, width, screen)
  }
  printText(JSON.stringify(value, undefined, 2), width, screen)
}

function printBody(bytes: Uint8Array, width: number, screen: Screen): void {
  if (bytes.length === 0) return screen.line(screen.paint('dim', '  (empty)'))
  if (!isUtf8(bytes)) {
    screen.line(screen.paint('dim', `  (binary, ${size(bytes.length)}; --raw writes it to a file or a pipe)`))
    for (const row of hexDump(bytes.subarray(0, 64))) screen.line(`  ${row}`)
    return
  }
  const text = new TextDecoder().decode(bytes)
  const value = parseJson(text)
  printText(value === undefined ? text : JSON.stringify(value, undefined, 2), width, screen)
}

/** Recorded text at two blanks, every line of it with the mark of a text that is not ours. */
function printText(text: string, width: number, screen: Screen): void {
  for (const line of text.replace(/\r\n?/g, '\n').split('\n'))
    for (const row of foldText(line, { width: width - 4 })) screen.line(`  | ${row}`.trimEnd())
}

function hexDump(bytes: Uint8Array): readonly string[] {
  const rows = Math.ceil(bytes.length / 16)
  return Array.from({ length: rows }, (_, row) => {
    const part = [...bytes.subarray(row * 16, row * 16 + 16)]
    const hex = part.map((byte) => byte.toString(16).padStart(2, '0')).join(' ')
    const text = part.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.')).join('')
    return `${hex.padEnd(48)} ${text}`
  })
}

function decoded(bytes: Uint8Array, headers: readonly HeaderPair[]): Uint8Array {
  return decodeBody(bytes, headerOf(headers, 'content-encoding'))
}
