import { exec, execFileSync, execSync, fork, spawn, spawnSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import dns, { lookup } from 'node:dns'
import http, { type ClientRequest, request } from 'node:http'
import http2, { type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2'
import { connect, type Socket } from 'node:net'
import tls from 'node:tls'
import { Worker } from 'node:worker_threads'
import { Pool, request as undiciRequest } from 'undici'

/** What an attempt reaches for: a listening server, and connections to it that were open before the replay began. */
export interface Target {
  readonly port: number
  readonly udpPort: number
  readonly h2Port: number
  readonly socketPath: string
  /** A file that exists if a child process or worker ran. */
  readonly marker: string
  readonly pool: Pool
  readonly agent: http.Agent
  readonly session: ClientHttp2Session
}

/** Opens everything that can be open already when a replay begins. */
export async function openBefore(base: Omit<Target, 'pool' | 'agent' | 'session'>): Promise<Target> {
  const pool = new Pool(`http://127.0.0.1:${base.port}`)
  const agent = new http.Agent({ keepAlive: true })
  const session = http2.connect(`http://127.0.0.1:${base.h2Port}`)
  const target = { ...base, pool, agent, session }
  await (await fetch(url(target))).text()
  await (await pool.request({ path: '/', method: 'GET' })).body.text()
  await answered(http.get(`http://127.0.0.1:${base.port}/`, { agent }))
  await h2Answer(session.request({ ':path': '/' }))
  return target
}

const url = ({ port }: Target): string => `http://127.0.0.1:${port}/`
const touch = ({ marker }: Target): string => `require('node:fs').writeFileSync(${JSON.stringify(marker)}, '')`

/** Ways an agent can reach the world around the seam, by name. Each is on lines of its own: errors must name them. */
export const attempts: Readonly<Record<string, (target: Target) => unknown>> = {
  'fetch to a new origin': async ({ port }) => (await fetch(`http://localhost:${port}/`)).text(),
  'fetch on a pooled connection': async (target) => (await fetch(url(target))).text(),
  'http.get on a pooled connection': (target) => answered(http.get(url(target), { agent: target.agent })),
  'undici.request to a new origin': async ({ port }) => (await undiciRequest(`http://localhost:${port}/`)).body.text(),
  'a request through an undici pool opened before': async ({ pool }) =>
    (await pool.request({ path: '/', method: 'GET' })).body.text(),
  'http.request bound early': (target) => answered(request(url(target), { agent: false }).end()),
  'net.connect bound early': ({ port }) => opened(connect(port, '127.0.0.1')),
  'tls.connect': ({ port }) => opened(tls.connect(port, '127.0.0.1', { rejectUnauthorized: false })),
  'http2.connect': ({ h2Port }) => h2Answer(http2.connect(`http://127.0.0.1:${h2Port}`).request({ ':path': '/' })),
  'a request on an http2 session opened before': ({ session }) => h2Answer(session.request({ ':path': '/' })),
  'a unix socket': ({ socketPath }) => opened(connect(socketPath)),
  'dns.lookup bound early': () => called((done) => lookup('localhost', done)),
  'dns.promises.lookup': () => dns.promises.lookup('localhost'),
  'dns.resolve4': () => called((done) => dns.resolve4('localhost', done)),
  'a dns.Resolver': () => called((done) => new dns.Resolver().resolve4('localhost', done)),
  'a UDP datagram': ({ udpPort }) => called((done) => createSocket('udp4').send('x', udpPort, '127.0.0.1', done)),
  'spawn bound early': (target) => exited(spawn(process.execPath, ['-e', touch(target)])),
  exec: (target) => called((done) => exec(`touch ${target.marker}`, done)),
  fork: (target) => exited(fork('/dev/stdin', [target.marker])),
  spawnSync: (target) => spawnSync('touch', [target.marker]).status,
  execSync: (target) => execSync(`touch ${target.marker}`),
  'execFileSync bound early': (target) => execFileSync('touch', [target.marker]),
  'a Worker': (target) => exited(new Worker(touch(target), { eval: true })),
  'a WebSocket': ({ port }) => socketOpened(new WebSocket(`ws://127.0.0.1:${port}`)),
}

function answered(outgoing: ClientRequest): Promise<unknown> {
  return new Promise((resolve, reject) => {
    outgoing.on('response', (incoming) => incoming.resume().on('end', resolve).on('error', reject))
    outgoing.on('error', reject)
  })
}

function opened(socket: Socket): Promise<unknown> {
  return new Promise((resolve, reject) => {
    socket.on('connect', resolve)
    socket.on('error', reject)
  })
}

function h2Answer(stream: ClientHttp2Stream): Promise<unknown> {
  return new Promise((resolve, reject) => {
    stream.session?.on('error', reject)
    stream.on('response', () => stream.resume())
    stream.on('end', resolve)
    stream.on('error', reject)
    stream.end()
  })
}

function called(start: (done: (error: Error | null, value?: unknown) => void) => unknown): Promise<unknown> {
  return new Promise((resolve, reject) => {
    start((error, value) => (error ? reject(error) : resolve(value)))
  })
}

function exited(child: { on(event: string, listener: (value: unknown) => void): unknown }): Promise<unknown> {
  return new Promise((resolve, reject) => {
    child.on('exit', resolve)
    child.on('error', reject)
  })
}

function socketOpened(socket: WebSocket): Promise<unknown> {
  return new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve)
    socket.addEventListener('error', () => reject(new Error('the socket failed')))
  })
}
