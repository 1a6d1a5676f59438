import { fork } from 'node:child_process'
import cluster from 'node:cluster'
import crypto from 'node:crypto'
import dgram, { createSocket } from 'node:dgram'
import dns from 'node:dns'
import { once } from 'node:events'
import fs, { fchmodSync, futimesSync, openSync, symlinkSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import http2 from 'node:http2'
import module from 'node:module'
import { createServer } from 'node:net'
import os from 'node:os'
import { join } from 'node:path'
import { run } from 'node:test'
import tls from 'node:tls'
import { pathToFileURL } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import vm from 'node:vm'
import { MessageChannel } from 'node:worker_threads'
import type { Way } from './ways.ts'

/** What starts a program, as code. */
const starting = (file: string): string =>
  `process.getBuiltinModule('node:child_process').spawnSync('touch', [${JSON.stringify(file)}])`
const writing = (file: string): string =>
  `process.getBuiltinModule('node:fs').writeFileSync(${JSON.stringify(file)}, 'x')`
const asData = (code: string): string => `data:text/javascript,${encodeURIComponent(code)}`
const { setEngine } = crypto as { readonly setEngine?: (engine: string) => void }

/** Less known functions of Node, and other places from which the same is done. */
export const oddWays: Readonly<Record<string, Way>> = {
  'tls.connect': { go: ({ port }) => once(tls.connect(port, '127.0.0.1'), 'secureConnect'), seam: 'refused' },
  'http2.connect': { go: ({ port }) => overHttp2(port), seam: 'served' },
  'a WebSocket': { go: ({ port }) => opened(new WebSocket(`ws://127.0.0.1:${port}`)), seam: 'served' },
  'dns.lookup': { go: () => dns.promises.lookup('localhost'), seam: 'refused' },
  'dgram.addMembership': { go: () => createSocket('udp4').addMembership('224.0.0.114'), seam: 'refused' },
  'dgram._createSocketHandle': {
    go: () => Reflect.apply(Reflect.get(dgram, '_createSocketHandle') as () => void, dgram, ['127.0.0.1', 0, 'udp4']),
    seam: 'refused',
  },
  'net.Server._listen2': {
    go: () => {
      const server = createServer()
      Reflect.apply(Reflect.get(server, '_listen2') as () => void, server, ['127.0.0.1', 0, 4, 511])
    },
    seam: 'refused',
  },
  'cluster.fork': { go: ({ folder }) => clustered(starting(join(folder, 'clustered'))), seam: 'refused' },
  'run() of node:test': { go: ({ database }) => tested(database), seam: 'refused', isFarFromAgent: true },
  'child_process.fork with NODE_OPTIONS': {
    go: ({ folder, database }) =>
      once(fork(database, { env: { NODE_OPTIONS: `--import=${asData(writing(join(folder, 'o')))}` } }), 'exit'),
    seam: 'refused',
  },
  'module.register': { go: ({ folder }) => module.register(asData(writing(join(folder, 'hooks')))), seam: 'refused' },
  'crypto.setEngine': {
    go: ({ folder }) => setEngine?.(join(folder, 'add-on.node')),
    seam: 'refused',
    isMissing: setEngine === undefined,
  },
  'an engine of a TLS context': {
    go: ({ folder }) => tls.createSecureContext({ clientCertEngine: join(folder, 'add-on.node') }),
    seam: 'refused',
  },
  'os.setPriority of another process': { go: ({ pid }) => os.setPriority(pid, 19), seam: 'refused' },
  'code of a data: address': {
    go: ({ folder }) => import(asData(starting(join(folder, 'data')))),
    seam: 'refused',
    isFarFromAgent: true,
  },
  'code of node:vm': {
    go: ({ folder }) => vm.runInNewContext(starting(join(folder, 'vm')), { process }) as unknown,
    seam: 'refused',
  },
  'Atomics.waitAsync': { go: ({ folder }) => waited(join(folder, 'waited')), seam: 'refused' },
  'a message to itself': { go: ({ folder }) => messaged(join(folder, 'messaged')), seam: 'refused' },
  'module.enableCompileCache': {
    go: ({ folder }) => module.enableCompileCache(join(folder, 'cache')),
    seam: 'listed',
    strict: 'refused',
  },
  'a file behind a symbolic link': { go: ({ folder }) => throughLink(folder), seam: 'listed', strict: 'refused' },
  'fs.WriteStream': {
    go: ({ folder }) => once(new StreamOf(join(folder, 'ws')).end('x'), 'close'),
    seam: 'listed',
    strict: 'refused',
    isFarFromAgent: true,
  },
  'fs.readFileSync that makes a file': {
    go: ({ folder }) => fs.readFileSync(join(folder, 'read'), { encoding: 'utf8', flag: 'w+' }),
    seam: 'listed',
    strict: 'refused',
  },
  'fs.promises.readFile that makes a file': {
    go: ({ folder }) => fs.promises.readFile(join(folder, 'read'), { flag: 'a+' }),
    seam: 'listed',
    strict: 'refused',
  },
  'fs.openSync that empties a file': {
    go: ({ folder }) => fs.closeSync(openSync(join(folder, 'env'), fs.constants.O_TRUNC)),
    seam: 'listed',
    strict: 'refused',
  },
  'a path of bytes': {
    go: ({ folder }) => writeFileSync(new TextEncoder().encode(join(folder, 'bytes')) as Buffer, 'x'),
    seam: 'listed',
    strict: 'refused',
  },
  'a path of another URL class': {
    go: ({ folder }) => writeFileSync(otherUrl(join(folder, 'url')), 'x'),
    seam: 'listed',
    strict: 'refused',
  },
  'an exception capture of the process': { go: capturing, seam: 'open' },
  'fs.fchmod of a file opened to read': {
    go: ({ database }) => fchmodSync(openSync(database, 'r'), 0o600),
    seam: 'unseen',
  },
  'fs.futimes of a file opened to read': {
    go: ({ database }) => futimesSync(openSync(database, 'r'), 1, 1),
    seam: 'unseen',
  },
  'chmod of a FileHandle opened to read': { go: ({ database }) => ofHandle(database), seam: 'unseen' },
  'v8.setFlagsFromString': { go: () => setFlagsFromString('--no-trace-turbo'), seam: 'unseen' },
  'dns.setServers': { go: () => dns.setServers(dns.getServers()), seam: 'open' },
  'process.umask': { go: () => process.umask(process.umask(0o077)), seam: 'open' },
  'process.setgroups': { go: () => process.setgroups?.(process.getgroups?.() ?? []), seam: 'open' },
  // The types of Node leave it out.
  'process.initgroups': {
    go: () => Reflect.apply(Reflect.get(process, 'initgroups') as () => void, process, [0, 0]),
    seam: 'open',
  },
  'process.loadEnvFile': { go: ({ folder }) => process.loadEnvFile(join(folder, 'env')), seam: 'open' },
}

const StreamOf = fs.WriteStream as unknown as new (file: string) => fs.WriteStream

async function overHttp2(port: number): Promise<void> {
  const session = http2.connect(`http://127.0.0.1:${port}`)
  session.on('error', () => undefined)
  await once(session.request({ ':path': '/' }), 'response')
}

function opened(socket: WebSocket): Promise<unknown> {
  return new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve)
    socket.addEventListener('error', () => reject(new Error('the socket failed')))
  })
}

async function clustered(code: string): Promise<void> {
  cluster.setupPrimary({ exec: '-e', execArgv: ['-e', code] })
  await once(cluster.fork(), 'exit')
}

async function tested(file: string): Promise<void> {
  for await (const event of run({ files: [file] })) void event
}

async function waited(file: string): Promise<void> {
  const { waitAsync } = Atomics as unknown as {
    waitAsync(cells: Int32Array, at: number, value: number): { readonly value: Promise<string> }
  }
  const cells = new Int32Array(new SharedArrayBuffer(4))
  const { value } = waitAsync(cells, 0, 0)
  Atomics.notify(cells, 0)
  await value
  touch(file)
}

async function messaged(file: string): Promise<void> {
  const { port1, port2 } = new MessageChannel()
  const heard = new Promise<void>((resolve, reject) => {
    port1.on('message', () => {
      try {
        resolve(touch(file))
      } catch (error) {
        reject(error as Error)
      }
    })
  })
  port2.postMessage('go')
  await heard.finally(() => port1.close())
}

function touch(file: string): void {
  process.getBuiltinModule('node:child_process').spawnSync('touch', [file])
}

function throughLink(folder: string): void {
  symlinkSync(folder, join(folder, 'link'))
  writeFileSync(join(folder, 'link', 'linked'), 'x')
}

async function ofHandle(file: string): Promise<void> {
  const handle = await open(file, 'r')
  try {
    await handle.chmod(0o600)
  } finally {
    await handle.close()
  }
}

/** As that of jsdom is. */
function otherUrl(file: string): URL {
  const { href, protocol, hostname, pathname } = pathToFileURL(file)
  return { href, protocol, hostname, pathname } as URL
}

/** Node switches reports of what nobody caught off for as long. */
function capturing(): void {
  process.setUncaughtExceptionCaptureCallback(() => undefined)
  process.setUncaughtExceptionCaptureCallback(null)
}
