/**
 * Records what clients of databases ask of the real servers of this machine, stops these, and replays: `postgresql`, `mariadb-server` and
 * `redis-server` of Debian. `--write` keeps the tape that the tests replay where npm has no server.
 */
import { execFileSync, spawn } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encodeValue } from '../src/tape/index.ts'
import { recorded, replayed } from '../test/seam/clients/both.ts'
import * as mysql2 from '../test/seam/clients/mysql2.agent.ts'
import * as pg from '../test/seam/clients/pg.agent.ts'
import * as postgresJs from '../test/seam/clients/postgres-js.agent.ts'
import * as redis from '../test/seam/clients/redis.agent.ts'

type Agent = (port: number) => Promise<unknown>
interface Server {
  readonly port: number
  stop(): Promise<void>
}

const folder = mkdtempSync(join(tmpdir(), 'harvest-servers-'))
const isRoot = process.getuid?.() === 0

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** A program that serves until it is stopped. */
async function started(port: number, command: string, args: readonly string[], uid?: number): Promise<Server> {
  const child = spawn(command, args, { stdio: 'ignore', ...(uid === undefined ? {} : { uid }) })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  for (;;) {
    const isUp = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true)).once('error', () => resolve(false))
      socket.once('connect', () => socket.destroy())
    })
    if (isUp) break
    if (child.exitCode !== null) throw new Error(`${command} ended with ${child.exitCode}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return {
    port,
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

async function postgres(): Promise<Server> {
  const [version] = readdirSync('/usr/lib/postgresql').sort().reverse()
  const bin = (name: string): string => `/usr/lib/postgresql/${version}/bin/${name}`
  const [data, port] = [join(folder, 'pg'), await freePort()]
  const uid = isRoot ? Number(execFileSync('id', ['-u', 'postgres'], { encoding: 'utf8' })) : undefined
  if (uid !== undefined) chownSync(folder, uid, -1)
  const how = uid === undefined ? {} : { uid }
  if (!existsSync(data))
    execFileSync(bin('initdb'), ['-D', data, '-A', 'trust', '-U', 'postgres'], { stdio: 'ignore', ...how })
  return started(port, bin('postgres'), ['-D', data, '-p', `${port}`, '-k', folder, '-c', 'fsync=off'], uid)
}

async function mariadb(): Promise<Server> {
  const [data, port] = [join(folder, 'mariadb'), await freePort()]
  const user = isRoot ? ['--user=root'] : []
  if (!existsSync(data)) {
    const how = [`--datadir=${data}`, '--auth-root-authentication-method=normal', '--skip-test-db', ...user]
    execFileSync('mariadb-install-db', how, { stdio: 'ignore' })
  }
  const socket = join(folder, 'mariadb.sock')
  const args = [`--datadir=${data}`, `--port=${port}`, `--socket=${socket}`, '--bind-address=127.0.0.1', ...user]
  const server = await started(port, 'mariadbd', args)
  execFileSync('mariadb', ['-S', socket, '-u', 'root', '-e', 'create database if not exists shop'])
  return server
}

async function redisServer(): Promise<Server> {
  const port = await freePort()
  return started(port, 'redis-server', ['--port', `${port}`, '--save', '', '--dir', folder])
}

const rows: readonly (readonly [name: string, server: () => Promise<Server>, agent: Agent])[] = [
  ['pg', postgres, pg.everything],
  ['postgres', postgres, postgresJs.everything],
  ['mysql2', mariadb, mysql2.everything],
  ['mysql2, one connection', mariadb, mysql2.oneConnection],
  ['ioredis', redisServer, redis.withIoredis],
  ['redis', redisServer, redis.withRedis],
]

let failures = 0
try {
  for (const [name, start, agent] of rows) {
    const server = await start()
    const first = await recorded(() => agent(server.port))
    await server.stop()
    const again = await replayed(first.tape, agent)
    const asked = first.tape.events.filter(({ kind }) => kind === 'tool').length
    const value = again.outcome.status === 'returned' ? again.outcome.value : undefined
    const isGood =
      // With all that a tape tells apart: classes, bigints, bytes.
      JSON.stringify(encodeValue(value)) === JSON.stringify(encodeValue(first.recorded)) &&
      again.problems.length === 0 &&
      again.reached === 0 &&
      first.tape.close?.unrecorded === undefined
    if (!isGood) failures++
    console.log(`${isGood ? 'equal' : 'OTHER'}  ${name.padEnd(24)} ${asked} questions, ${again.reached} connections`)
    for (const { message } of again.problems) console.log(message)
    if (name === 'mysql2' && process.argv.includes('--write'))
      writeFileSync('test/seam/clients/mysql2.answers.json', `${JSON.stringify(first.tape)}\n`)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
process.exit(failures === 0 ? 0 : 1)
