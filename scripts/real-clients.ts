/**
 * Records what clients of databases ask of the real servers of this machine, stops these, and replays: `postgresql`, `mariadb-server` and
 * `redis-server` of Debian. `--write` keeps the tape that the tests replay where npm has no server.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encodeValue } from '../src/tape/index.ts'
import { recorded, replayed } from '../test/seam/clients/both.ts'
import * as mysql2 from '../test/seam/clients/mysql2.agent.ts'
import * as pg from '../test/seam/clients/pg.agent.ts'
import * as postgresJs from '../test/seam/clients/postgres-js.agent.ts'
import * as redis from '../test/seam/clients/redis.agent.ts'
import { debianServers, type DebianServer } from './servers/debian.ts'

type Agent = (port: number) => Promise<unknown>

const folder = mkdtempSync(join(tmpdir(), 'harvest-servers-'))
const servers = debianServers(folder)

const rows: readonly (readonly [name: string, server: () => Promise<DebianServer>, agent: Agent])[] = [
  ['pg', servers.postgres, pg.everything],
  ['postgres', servers.postgres, postgresJs.everything],
  ['mysql2', servers.mariadb, mysql2.everything],
  ['mysql2, one connection', servers.mariadb, mysql2.oneConnection],
  ['ioredis', servers.redis, redis.withIoredis],
  ['redis', servers.redis, redis.withRedis],
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
