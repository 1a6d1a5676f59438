import { createHash } from 'node:crypto'
import { existsSync, rmSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { HarvestError } from '../errors/index.ts'
import {
  branchFlag,
  encodeBytes,
  type ExchangeEvent,
  type Moment,
  outsideFolder,
  readTape,
  readTapeHeader,
  requestBytes,
  serializeTape,
  sharedFolder,
  type Tape,
  type TapeHeader,
} from '../tape/index.ts'
import { filesBelow, isTapeFile, makeFolder, writeFileAtomic } from './files.ts'
import { refuseLinks } from '../tape/links.ts'

/** What is kept once beside the golden set, and any case may be answered with. */
export interface KeptAnswer {
  readonly method: string
  readonly url: string
  readonly file: string
  /** ISO 8601: when the run began that fetched it. */
  readonly startedAt: string
}

/** What cases of these recordings may be answered with besides their own tapes. */
export function listShared(recordings: string): readonly KeptAnswer[] {
  return filesBelow(join(recordings, sharedFolder), isTapeFile).flatMap(answersIn)
}

/** What the process of a tape had fetched outside its runs when that one ended. */
export function listOutside(tape: Omit<Tape, 'events' | 'digest'>): readonly KeptAnswer[] {
  return outsideTapes(tape).flatMap(answersIn)
}

function answersIn(file: string): readonly KeptAnswer[] {
  const { header, events } = readTape(file)
  return events.flatMap((event) =>
    event.kind === 'exchange' ? [{ method: event.method, url: event.url, file, startedAt: header.startedAt }] : [],
  )
}

function outsideTapes({ source, header, close }: Omit<Tape, 'events' | 'digest'>): readonly string[] {
  if (header.process === undefined) return []
  const endedAt = new Date(Date.parse(header.startedAt) + (close?.at ?? 0)).toISOString()
  const folder = join(dirname(resolve(source)), outsideFolder)
  return filesBelow(folder, isTapeFile).filter((file) => {
    const { process, startedAt } = readTapeHeader(file)
    return process === header.process && startedAt <= endedAt
  })
}

/** Removes what processes fetched outside their runs, where the last tape of such a process was removed. */
export function forgetOutside(removed: readonly string[]): void {
  for (const folder of new Set(removed.map((file) => dirname(resolve(file))))) {
    const outside = filesBelow(join(folder, outsideFolder), isTapeFile)
    if (outside.length === 0) continue
    const left = new Set(filesBelow(folder, isTapeFile).map((file) => headerOf(file)?.process))
    for (const file of outside) if (!left.has(headerOf(file)?.process)) rmSync(file, { force: true })
  }
}

/** `undefined` where it cannot be read. */
export function headerOf(file: string): TapeHeader | undefined {
  try {
    return readTapeHeader(file)
  } catch (error) {
    if (HarvestError.is(error)) return undefined
    throw error
  }
}

/** The recordings whose golden set a tape is in; `undefined` for any other tape. */
export function recordingsOf(tapeFile: string): string | undefined {
  for (let folder = dirname(resolve(tapeFile)); dirname(folder) !== folder; folder = dirname(folder))
    if (basename(folder) === 'golden') return dirname(folder)
  return undefined
}

/** An exchange on a tape that a replay of another one needed. */
export interface SharedSource {
  readonly file: string
  /** The number of the exchange there. */
  readonly n: number
}

/**
 * Keeps exchanges once for all cases, in `shared/` beside the golden set: what a process fetches once, and its later runs do
 * not. One that is kept already is replaced by a newer one.
 *
 * @returns the files that were written
 */
export function keepShared(recordings: string, sources: readonly SharedSource[]): readonly string[] {
  return sources.flatMap(({ file, n }) => {
    const tape = readTape(file)
    const event = tape.events.find((one) => one.n === n)
    if (event?.kind !== 'exchange') throw new TypeError(`${file} has no exchange ${n}`)
    return keep(recordings, tape, event)
  })
}

/** Replaces what is kept by the newer answers that a tape, or its process outside its runs, has for the same requests. */
export function refreshShared(recordings: string, tape: Tape): readonly string[] {
  return [tape, ...outsideTapes(tape).map((file) => readTape(file))].flatMap((one) =>
    one.events.flatMap((event) =>
      event.kind === 'exchange' && existsSync(fileOf(recordings, event)) ? keep(recordings, one, event) : [],
    ),
  )
}

function keep(recordings: string, { header, source }: Tape, event: ExchangeEvent): readonly string[] {
  const file = fileOf(recordings, event)
  if (source === file) return []
  if (existsSync(file) && startOf(file) >= header.startedAt) return []
  const { startedAt, recorder, pins, redact } = header
  const whole = asOnly(event)
  const text = serializeTape(
    {
      harvest: header.harvest,
      id: nameOf(event),
      agent: 'shared',
      startedAt,
      recorder,
      flags: header.flags.filter((flag) => flag !== branchFlag),
      pins,
      ...(redact === undefined ? {} : { redact }),
    },
    [whole],
    { n: lastOf(whole) + 1, at: 0, outcome: { status: 'unknown' } },
  )
  refuseLinks(recordings, join(recordings, sharedFolder))
  makeFolder(join(recordings, sharedFolder))
  writeFileAtomic(file, text)
  return [file]
}

/** What cannot be read is written again. */
function startOf(file: string): string {
  return headerOf(file)?.startedAt ?? ''
}

/** The exchange as the first and only thing that happened, all of it at once. */
function asOnly({ via, method, url, request, response, ...rest }: ExchangeEvent): ExchangeEvent {
  const bytes = requestBytes({ via, method, url, request, ...rest })
  const { body: _, ...about } = request
  const asked = { ...about, ...(bytes.length === 0 ? {} : { body: encodeBytes(bytes) }) }
  let n = 0
  const moment = (): Moment => [++n, 0]
  return {
    kind: 'exchange',
    n: 0,
    at: 0,
    via,
    method,
    url,
    request: asked,
    ...(response && {
      response: {
        ...response,
        moment: moment(),
        chunks: response.chunks.map(([, , piece]) => [...moment(), piece] as const),
        ...(response.end && { end: moment() }),
      },
    }),
  }
}

function lastOf({ response }: ExchangeEvent): number {
  return response?.end?.[0] ?? 0
}

function fileOf(recordings: string, event: ExchangeEvent): string {
  return join(recordings, sharedFolder, `${nameOf(event)}.tape.jsonl`)
}

/** Host and digest of the question: the same for each recording of it. */
function nameOf(event: ExchangeEvent): string {
  const { method, url } = event
  const host = URL.canParse(url) ? new URL(url).hostname : 'unknown'
  // Placeholders are numbered by run.
  const question = `${method} ${url}\n${requestBytes(event).toString('utf8')}`.replaceAll(
    /(?<=redacted-(?:[a-z][a-z0-9-]*?-)?|\[key-|%5Bkey-)\d{1,9}/g,
    '',
  )
  const digest = createHash('sha256').update(question).digest('hex').slice(0, 12)
  return `${host.replaceAll(/[^a-z0-9.-]/gi, '-')}-${digest}`
}
