// Over 300 lines: to which run belongs what each client sends, and where that leads.
import http from 'node:http'
import https from 'node:https'
import net from 'node:net'
import { captureStack } from '../caller.ts'
import type { Pairs } from '../pairs.ts'
import { Context } from './context.ts'
import { isOfHttpClient } from '../http-clients.ts'
import { headerPairs } from '../observe/channels.ts'
import { hearReading, hearRequestRead, type BodyUse } from '../reading.ts'
import { patchProperty, subscribeOnce } from '../patch.ts'
import { heldSocket, noteTarget, runHeader, socketOf, statedSocket } from '../connection.ts'
import { limitReplayed, patchSockets } from '../socket-limits.ts'
import { sentTo, sentToOf, statedHost, trailersPair } from '../shape.ts'
import { isHeld, letThrough, openedInside, openedOutside, socketTarget } from './guard.ts'
import { currentOutsideAnswers, currentWatcher, refusal, tellOfSocket } from './outside.ts'
import { currentResponder, type Responder } from './responder.ts'
import { nextTick, sharedOf } from '../source.ts'
import { hearFailed, type SentByUndici, type UnsentRequest, unsentHttp, unsentUndici } from './unsent.ts'

const runs = new Map<string, Responder>()
const numbers = new WeakMap<Responder, string>()
let lastNumber = 0

/** What is kept of a request while its run lives. */
interface Note {
  readonly madeAt: Error
  /** Where its connection leads, if its `Host` header says another host; its unix socket; and its trailers: as they stand on a tape. */
  sentTo?: Pairs
  socket?: Pairs
  trailers?: Pairs
  /** Of `node:http`: its headers may be set until it is written. */
  request?: HttpRequest
  /** Of a client of `node:http2`. */
  stream?: { readonly readableLength: number }
  /** Hears whether the body of its answer is read. */
  reading?: (how: BodyUse) => void
  /** To be called when it reached who answers it. */
  arrived?: () => void
  /** It waits for a connection. */
  unsent?: UnsentRequest
  /** Hears what the interceptor makes of it. */
  learn?: (url: string, sent: Pairs) => void
}

const notes = new Map<string, Note>()
let lastRequest = 0

/** The header value for one request made right now: its run and its own number. */
export function tagFor(run: Responder): string {
  return tagged(run).tag
}

function tagged(run: Responder): { readonly tag: string; readonly note: Note } {
  let number = numbers.get(run)
  if (number === undefined) {
    number = String(++lastNumber)
    numbers.set(run, number)
    runs.set(number, run)
  }
  const tag = `${number}-${++lastRequest}`
  const madeAt = captureStack()
  run.making?.(madeAt)
  const note: Note = { madeAt }
  notes.set(tag, note)
  return { tag, note }
}

export function runOf(tag: string | null | undefined): Responder | undefined {
  return tag ? runs.get(tag.slice(0, tag.indexOf('-'))) : undefined
}

/** The stack at the place a tagged request was made. */
export function stackOf(tag: string | null | undefined): { readonly madeAt?: Error } {
  const note = noteOf(tag)
  return note ? { madeAt: note.madeAt } : {}
}

/** What is kept of a tagged request. */
export function noteOf(tag: string | null | undefined): Note | undefined {
  return tag ? notes.get(tag) : undefined
}

/** What stands beside the headers of a tagged request on a tape. */
export function besideOf(tag: string | null | undefined): Pairs {
  const { request, sentTo: to = [], socket = [], trailers = [] } = noteOf(tag) ?? {}
  return [...(request === undefined ? to : sentToOf(request, statedHost(request))), ...socket, ...trailers]
}

/** Lets go of what was kept of a request. */
export function forgetNote(tag: string): void {
  notes.delete(tag)
}

/** Closes idle connections of the global agents: a request of a run may not ride one from before. */
export function closeIdleConnections(): void {
  for (const { freeSockets } of [http.globalAgent, https.globalAgent]) {
    for (const socket of Object.values(freeSockets).flat()) if (socket && !openedInside.has(socket)) socket.destroy()
  }
}

/** The socket of an HTTP client that the interceptor takes right now: it connects it once more, to itself. */
let taking: net.Socket | undefined

/** Sockets outside runs that a mock server on our interceptor answers. */
export const mockSockets = new WeakSet<net.Socket>()

/** Sockets on which Node's own client was answered inside of a run. */
const answered = new Set<net.Socket>()

/**
 * Closes what runs were answered on. The interceptor leaves the handle of an answered socket open, and with it the run in
 * memory: @mswjs/interceptors 0.45; a test counts what is left behind.
 */
function closeAnswered(): void {
  for (const socket of answered) {
    letWait(socket)
    socket.destroy()
    ;(socket as { readonly _handle?: { close?(): void } })._handle?.close?.()
  }
  answered.clear()
}

/** A request of a run that is over gets no more answers: its client, which may ride a connection used before, stays where it is. */
function letWait({ _httpMessage: request }: net.Socket): void {
  if (!(request instanceof http.ClientRequest)) return
  const { res } = request as { readonly res?: http.IncomingMessage | null }
  for (const waiting of [request, res]) waiting?.removeAllListeners().on('error', () => undefined)
}

/** Forgets runs that are over. */
export function forgetRuns(isOver: (run: Responder) => boolean): void {
  // A connection may be ridden by any run: closed under one that waits, its request would be sent into the world.
  if ([...runs.values()].every(isOver)) closeAnswered()
  const over = [...runs].filter(([, run]) => isOver(run)).map(([number]) => number)
  for (const number of over) runs.delete(number)
  for (const tag of notes.keys()) if (!runOf(tag)) notes.delete(tag)
}

/**
 * Writes the run into every request at the moment it is made, and refuses requests that would ride a connection from
 * before the run: those never call `connect`, so only the channels see them. Install after the socket interceptor.
 *
 * @param realConnect - `connect` as it was before the interceptor, for everything that happens outside runs
 * @param taken - gets each socket of an HTTP client that the interceptor has taken
 * @param isMockBeneath - `connect` was that of a mock server: what our interceptor answers, it would answer once more
 * @param isMockSharing - whether a mock server listens on our interceptor: what happens outside runs is for it to answer
 */
export function attributeRequests(
  realConnect: typeof net.Socket.prototype.connect,
  taken: (socket: net.Socket) => void,
  isMockBeneath: boolean,
  isMockSharing: () => boolean,
): void {
  patchProperty(
    net.Socket.prototype,
    'connect',
    (original) => {
      return function connect(this: net.Socket, ...args: unknown[]) {
        if (taking === this) return Reflect.apply(original, this, args) as net.Socket
        noteTarget(this, args)
        const run = currentResponder()
        if (!run) {
          openedOutside.add(this)
          const port = /:(\w+)$/.exec(socketTarget(args))?.[1] ?? ''
          if (currentOutsideAnswers()?.claimsPort(port) === true && isOfHttpClient())
            return Reflect.apply(original, this, args) as net.Socket
          if (isMockSharing()) {
            mockSockets.add(this)
            return Reflect.apply(original, this, args) as net.Socket
          }
          // The interceptor waits for the client's first bytes: a server that speaks first would never be heard.
          return Reflect.apply(realConnect, this, args) as net.Socket
        }
        openedInside.add(this)
        const isHttp = isOfHttpClient()
        if (!isHttp && isHeld(this, args, original)) return this
        const error = isHttp
          ? isMockBeneath
            ? run.mocked?.('sockets', captureStack())
            : undefined
          : refusal('socket', socketTarget(args))
        if (!error) {
          if (!isHttp) tellOfSocket(run, this, socketTarget(args))
          const before = taking
          // oxlint-disable-next-line no-this-alias -- which socket it is has to be known further down
          if (isHttp) taking = this
          try {
            Reflect.apply(original, this, args)
          } finally {
            taking = before
          }
          if (isHttp) taken(this)
          return this
        }
        nextTick(() => this.destroy(error))
        return this
      } as typeof original
    },
    'attribution',
  )
  patchSockets()
  hearFailed()
  patchProperty(http.OutgoingMessage.prototype, 'addTrailers', (real) => {
    return function addTrailers(this: http.OutgoingMessage, trailers) {
      const note = noteOf(tagOf(this))
      if (note) note.trailers = [trailersPair(headerPairs(trailers).map(([name]) => name))]
      return real.call(this, trailers)
    }
  })
  subscribeOnce('attribution', 'undici:request:create', ({ request }: { request: CreatedRequest }) => {
    const run = currentResponder()
    if (!run) return
    const { tag, note } = tagged(run)
    const unsent = unsentUndici(run, request, note.madeAt, () => besideOf(tag))
    if (unsent) note.unsent = unsent
    request.addHeader(runHeader, tag)
    hearRequestRead(request, (how) => note.reading?.(how))
    const { origin, host } = request
    // Seen again where it comes as far as a socket: there its address is made of its `Host` header.
    if (typeof host === 'string') note.sentTo = sentTo(`${String(origin)}/`, [['host', host]])
  })
  subscribeOnce('attribution', 'http.client.request.created', ({ request }: { request: HttpRequest }) => {
    const run = currentResponder()
    if (!run) return
    const { tag, note } = tagged(run)
    if (!request.headersSent) request.setHeader(runHeader, tag)
    // Headers given as a flat list are written already.
    else if (request._header?.endsWith('\r\n\r\n') === true)
      request._header = `${request._header.slice(0, -2)}${runHeader}: ${tag}\r\n\r\n`
    note.request = request
    note.socket = statedSocket(request)
    const unsent = unsentHttp(run, request as HttpRequest & http.ClientRequest, note.madeAt, () => besideOf(tag))
    if (unsent) note.unsent = unsent
    if (expectsContinue(request)) continueSoon(request)
    if (!request.useChunkedEncodingByDefault) boundBody(request)
    request.once('socket', (socket: net.Socket) => {
      limitReplayed(request as HttpRequest & http.ClientRequest, socket, run)
      note.socket = heldSocket(request)
      if (openedInside.has(socket)) return
      unsent?.arrived()
      const error = run.escape(
        'http',
        `${request.method} ${String(request.getHeader('host'))}${request.path}`,
        stackOf(tag).madeAt,
      )
      if (error) request.destroy(error)
    })
  })
  // Anybody may say anything on a channel.
  subscribeOnce('attribution', 'http.client.response.finish', ({ request, response }: Answered) => {
    const heard = request && readings.get(request)
    if (heard && response) hearReading(response, heard)
    const socket = request?.socket
    if (!socket || !openedInside.has(socket)) return
    if (runOf(String(request.getHeader(runHeader) ?? ''))) answered.add(socket)
  })
  subscribeOnce(
    'attribution',
    'undici:client:sendHeaders',
    ({ request, socket }: { request: UndiciRequest; socket: net.Socket }) => {
      const tag = headerOf(request.headers)
      const note = noteOf(tag)
      if (note) note.socket = socketOf(socket)
      if (openedInside.has(socket)) return
      note?.unsent?.arrived()
      const run = runOf(tag)
      const by = run ?? currentWatcher()
      const known = letThrough.get(socket)
      if (known !== undefined && known.by === by) return
      const made = [`${request.method} ${String(request.origin)}${request.path}`, stackOf(tag).madeAt] as const
      // What was opened for someone else is asked about as if it were opened now.
      const error = run
        ? run.escape('http', ...made)
        : known
          ? refusal('socket', known.target)
          : refusal('http', ...made)
      if (error) socket.destroy(error)
      else if (known && by) letThrough.set(socket, { ...known, by })
    },
  )
}

/** Who hears whether the bodies of answers to requests of `node:http` are read. */
const readings = sharedOf('intercept.readings', () => new WeakMap<object, (how: BodyUse) => void>())

/** Hears whether the body of the answer to a tagged request, or one of `node:http`, is read. */
export function hearAnswerRead(
  of: { readonly request?: object | null | undefined; readonly tag?: string | null },
  heard: (how: BodyUse) => void,
): void {
  const note = noteOf(of.tag)
  const request = of.request ?? note?.request
  if (request) readings.set(request, heard)
  else if (note) note.reading = heard
}

interface Answered {
  readonly request?: HttpRequest
  readonly response?: http.IncomingMessage
}

/** Of a request of `node:http`: headers that were given as a flat list are written already, and cannot be asked for. */
function tagOf(request: http.OutgoingMessage): string | undefined {
  const { _header: written } = request as { readonly _header?: string | null }
  const tag = request.getHeader(runHeader) ?? written?.split(`${runHeader}: `, 2)[1]?.split('\r\n', 1)[0]
  return tag === undefined ? undefined : String(tag)
}

/** The body of a `GET` that no header gives a length has no end on the wire, and would be read as a request of its own. */
function boundBody(request: HttpRequest): void {
  const { write, end } = request
  const bound = ([chunk]: readonly unknown[]): void => {
    if (typeof chunk === 'string' || chunk instanceof Uint8Array) request.useChunkedEncodingByDefault = true
  }
  const boundWrite: typeof write = (...given) => {
    bound(given)
    return write.apply(request, given)
  }
  const boundEnd: typeof end = (...given) => {
    bound(given)
    return end.apply(request, given)
  }
  request.write = boundWrite
  request.end = boundEnd
}

/** Whether a client keeps its body back until the server has said that it wants it. */
function expectsContinue(request: HttpRequest): boolean {
  const expected = request.getHeader('expect')
  return expected !== undefined && /^100-continue$/i.test(String(expected))
}

/** A tape holds no interim answers, and one that has a body was asked to go on. */
function continueSoon(request: HttpRequest): void {
  const context = new Context()
  request.once('socket', (socket) => {
    // The interceptor connects when it answers, which it does when it has the body.
    if (openedInside.has(socket)) context.run(() => nextTick(() => goOn(request)))
  })
}

function goOn(request: HttpRequest): void {
  request.emit('continue')
  const version = { httpVersion: '1.1', httpVersionMajor: 1, httpVersionMinor: 1 }
  request.emit('information', { statusCode: 100, statusMessage: 'Continue', ...version, headers: {}, rawHeaders: [] })
}

interface HttpRequest {
  readonly method: string
  readonly protocol: string
  readonly host: string
  readonly path: string
  readonly headersSent: boolean
  /** Of Node: the head as it is written; `null` until then. */
  _header?: string | null
  useChunkedEncodingByDefault: boolean
  write(...given: unknown[]): unknown
  end(...given: unknown[]): unknown
  readonly socket?: net.Socket | null
  readonly res?: http.IncomingMessage | null
  getHeader(name: string): unknown
  setHeader(name: string, value: string): void
  once(event: 'socket', listener: (socket: net.Socket) => void): void
  emit(event: 'continue' | 'information', about?: object): void
  destroy(error: Error): void
}

interface CreatedRequest extends SentByUndici {
  addHeader(name: string, value: string): void
}

interface UndiciRequest {
  readonly method: string
  readonly origin: unknown
  readonly path: string
  readonly headers: unknown
}

function headerOf(headers: unknown): string | undefined {
  const flat = Array.isArray(headers) ? headers.map(String) : String(headers).split(/\r\n|: /)
  const at = flat.indexOf(runHeader)
  return at < 0 ? undefined : flat[at + 1]
}
