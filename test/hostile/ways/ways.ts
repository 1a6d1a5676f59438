import { spawnSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import dns from 'node:dns'
import { once } from 'node:events'
import fs, { cpSync, fstatSync, mkdirSync, openSync, symlinkSync, writeFileSync, writeSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import http, { createServer as createHttpServer } from 'node:http'
import inspector from 'node:inspector'
import { createRequire } from 'node:module'
import { connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createTracing } from 'node:trace_events'
import { writeHeapSnapshot } from 'node:v8'
import { WASI } from 'node:wasi'
import { Worker } from 'node:worker_threads'
import { oddWays } from './odd-ways.ts'

/** What a way out is tried on. Nothing of it may be touched. */
export interface Canary {
  /** A folder in which a file would appear. */
  readonly folder: string
  /** A database, written before. Beside it is one in WAL mode, whose name ends with `-ahead`. */
  readonly database: string
  /** Somebody listens there, and counts who comes. */
  readonly port: number
  /** A process that would end. */
  readonly pid: number
}

/**
 * What becomes of a way: `refused`, with an escape on the list; `served`: a divergence of the tape, for the seam answers
 * it; `listed`: let through, and told with its file; `open`: let through, for it changes nothing outside the process;
 * `unseen`: let through and not told, though it may.
 */
export type Fate = 'refused' | 'served' | 'listed' | 'open' | 'unseen'

export interface Way {
  readonly go: (canary: Canary) => unknown
  readonly seam: Fate
  /** Default as under `seam`. */
  readonly strict?: Fate
  /** Node does it later, or in code of its own: no line of the agent is on the stack. */
  readonly isFarFromAgent?: boolean
  /** This Node has no such function. */
  readonly isMissing?: boolean
}

const require = createRequire(import.meta.url)

/** What stands below Node's own modules, as far as it is called here. */
interface Below {
  readonly TCP: new (type: number) => { connect(request: object, host: string, port: number): number }
  readonly TCPConnectWrap: new () => object
  readonly constants: { readonly SOCKET: number }
  spawn(options: object): unknown
}

interface Hidden {
  binding(name: string): Below
  execve(file: string, args: readonly string[], env: object): void
  dlopen(module: object, file: string): void
}

/** Asked for at each call: a replay replaces them. */
const hidden = (): Hidden => process as unknown as Hidden

export const ways: Readonly<Record<string, Way>> = {
  'net.connect': { go: ({ port }) => connected(connect(port, '127.0.0.1')), seam: 'refused' },
  'net.connect to a unix socket': { go: ({ folder }) => connected(connect(join(folder, 'sock'))), seam: 'refused' },
  'http.get': { go: ({ port }) => once(http.get(`http://127.0.0.1:${port}`), 'response'), seam: 'served' },
  fetch: { go: ({ port }) => fetch(`http://127.0.0.1:${port}`), seam: 'served' },
  'dgram.send': {
    go: ({ port }) => called((done) => createSocket('udp4').send('x', port, '127.0.0.1', done)),
    seam: 'refused',
  },
  'dgram.bind': { go: () => once(createSocket('udp4').bind(0), 'listening'), seam: 'refused' },
  'dns.resolve': { go: ({ port }) => resolver(port).resolve4('x.example'), seam: 'refused' },
  'net.Server.listen': { go: () => listening(createServer()), seam: 'refused' },
  'net.Server.listen with a host': { go: () => listening(createServer(), '127.0.0.1'), seam: 'refused' },
  'http.Server.listen': { go: () => listening(createHttpServer()), seam: 'refused' },
  'process.binding tcp_wrap': { go: ({ port }) => bareConnect(port), seam: 'refused' },
  'process.binding spawn_sync': { go: ({ folder }) => bareSpawn(join(folder, 'spawned')), seam: 'refused' },
  'process.binding fs': { go: () => hidden().binding('fs'), seam: 'refused' },
  'child_process.spawnSync': { go: ({ folder }) => spawnSync('touch', [join(folder, 'ran')]), seam: 'refused' },
  'process.kill with signal 0': { go: ({ pid }) => process.kill(pid, 0), seam: 'open' },
  'process.kill': { go: ({ pid }) => process.kill(pid, 'SIGTERM'), seam: 'refused' },
  'process.execve': {
    go: ({ folder }) => hidden().execve('/bin/touch', ['touch', join(folder, 'execve')], {}),
    seam: 'refused',
  },
  'process.dlopen': { go: () => hidden().dlopen({ exports: {} }, '/nowhere.node'), seam: 'refused' },
  'require of an add-on': { go: ({ folder }) => require(join(folder, 'add-on.node')) as unknown, seam: 'refused' },
  'require of an add-on known to be harmless': {
    // No such code is at hand on every system: that it was looked at is enough.
    go: ({ folder }) => require(join(folder, 'node_modules', 'bcrypt', 'add-on.node')) as unknown,
    seam: 'listed',
    strict: 'refused',
  },
  'inspector.open': { go: () => inspector.open(0, '127.0.0.1'), seam: 'refused' },
  'inspector.Session': { go: () => new inspector.Session().connect(), seam: 'refused' },
  'a Worker': {
    go: ({ folder }) => once(new Worker(touching(join(folder, 'w')), { eval: true }), 'exit'),
    seam: 'refused',
  },
  'a Worker with flags of its own': {
    go: ({ folder }) => once(new Worker(touching(join(folder, 'w')), { eval: true, execArgv: [] }), 'exit'),
    seam: 'refused',
  },
  'fs.writeFileSync': { go: ({ folder }) => writeFileSync(join(folder, 'a'), 'x'), seam: 'listed', strict: 'refused' },
  'fs.promises.writeFile': { go: ({ folder }) => writeFile(join(folder, 'b'), 'x'), seam: 'listed', strict: 'refused' },
  'fs.createWriteStream': {
    go: ({ folder }) => once(fs.createWriteStream(join(folder, 'stream')).end('x'), 'close'),
    seam: 'listed',
    strict: 'refused',
  },
  'fs.openSync to write': {
    go: ({ folder }) => fs.closeSync(openSync(join(folder, 'o'), 'w')),
    seam: 'listed',
    strict: 'refused',
  },
  'fs.openSync to read': { go: ({ database }) => fs.closeSync(openSync(database, 'r')), seam: 'open' },
  'fs.mkdirSync': { go: ({ folder }) => mkdirSync(join(folder, 'd')), seam: 'listed', strict: 'refused' },
  'fs.symlinkSync': { go: ({ folder }) => symlinkSync('/etc', join(folder, 'l')), seam: 'listed', strict: 'refused' },
  'fs.cpSync': { go: ({ folder, database }) => cpSync(database, join(folder, 'c')), seam: 'listed', strict: 'refused' },
  'fs.promises.rename': {
    go: ({ folder }) => rename(join(folder, 'add-on.node'), join(folder, 'r')),
    seam: 'listed',
    strict: 'refused',
  },
  'a database file': {
    go: ({ folder }) => madeTable(new DatabaseSync(join(folder, 's.db'))),
    seam: 'listed',
    strict: 'refused',
  },
  'ATTACH of a database': {
    go: ({ folder }) => sql(`attach '${join(folder, 'at.db')}' as other; create table other.t(a)`),
    seam: 'listed',
    strict: 'refused',
  },
  'VACUUM INTO a file': {
    go: ({ folder }) => sql(`create table t(a); /* a */ vacuum into '${join(folder, 'v.db')}'`),
    seam: 'listed',
    strict: 'refused',
  },
  'a database in memory, with an authorizer of its own': { go: ownAuthorizer, seam: 'listed', strict: 'refused' },
  'a database opened to read': {
    go: ({ database }) => new DatabaseSync(database, { readOnly: true }).close(),
    seam: 'open',
  },
  'a database in WAL mode opened to read': {
    go: ({ database }) => new DatabaseSync(`${database}-ahead`, { readOnly: true }).prepare('select * from t').all(),
    seam: 'listed',
    strict: 'refused',
  },
  'node:wasi': { go: ({ folder }) => new WASI({ version: 'preview1', preopens: { '/': folder } }), seam: 'refused' },
  WebAssembly: { go: () => compiled(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])), seam: 'open' },
  'an inherited socket, by its number': { go: () => writeSync(inherited(), 'x'), seam: 'refused' },
  'v8.writeHeapSnapshot': { go: ({ folder }) => writeHeapSnapshot(join(folder, 'h')), seam: 'refused' },
  'process.report.writeReport': {
    go: ({ folder }) => process.report.writeReport(join(folder, 'r.json')),
    seam: 'refused',
  },
  'settings of process.report': { go: () => (process.report.reportOnSignal = true), seam: 'refused' },
  trace_events: { go: () => createTracing({ categories: ['v8'] }).enable(), seam: 'refused' },
  'process.chdir': { go: ({ folder }) => moved(folder), seam: 'open' },
  ...oddWays,
}

function compiled(code: Uint8Array): unknown {
  const { WebAssembly } = globalThis as unknown as { WebAssembly: { Module: new (code: Uint8Array) => object } }
  return new WebAssembly.Module(code)
}

function connected(socket: ReturnType<typeof connect>): Promise<unknown> {
  return once(socket, 'connect')
}

function called(start: (done: (error: Error | null) => void) => unknown): Promise<unknown> {
  return new Promise((resolve, reject) => {
    start((error) => (error ? reject(error) : resolve(undefined)))
  })
}

function resolver(port: number): dns.promises.Resolver {
  const one = new dns.promises.Resolver({ timeout: 200, tries: 1 })
  one.setServers([`127.0.0.1:${port}`])
  return one
}

async function listening(server: Server, host?: string): Promise<void> {
  await once(host === undefined ? server.listen(0) : server.listen(0, host), 'listening')
  server.close()
}

function bareConnect(port: number): number {
  const { TCP, TCPConnectWrap, constants } = hidden().binding('tcp_wrap')
  return new TCP(constants.SOCKET).connect(new TCPConnectWrap(), '127.0.0.1', port)
}

function bareSpawn(file: string): unknown {
  const stdio = [{ type: 'ignore' }, { type: 'ignore' }, { type: 'ignore' }]
  return hidden()
    .binding('spawn_sync')
    .spawn({ file: '/bin/touch', args: ['touch', file], envPairs: [], stdio })
}

function touching(file: string): string {
  return `require('node:fs').writeFileSync(${JSON.stringify(file)}, 'x')`
}

function madeTable(database: DatabaseSync): void {
  database.exec('create table t(a)')
  database.close()
}

function sql(text: string): void {
  new DatabaseSync(':memory:').exec(text)
}

/** Takes the place of whoever asked before it. */
function ownAuthorizer({ folder }: Canary): void {
  const database = new DatabaseSync(':memory:')
  database.setAuthorizer(() => 0)
  database.setAuthorizer(null)
  database.exec(`attach '${join(folder, 'own.db')}' as other; create table other.t(a)`)
}

/** The channel to the process that started this one. */
function inherited(): number {
  for (let fd = 3; fd < 20; fd++) if (isSocket(fd)) return fd
  throw new Error('no socket was inherited')
}

function isSocket(fd: number): boolean {
  try {
    return fstatSync(fd).isSocket()
  } catch {
    // Nothing is open under this number.
    return false
  }
}

function moved(folder: string): void {
  const before = process.cwd()
  process.chdir(folder)
  process.chdir(before)
}
