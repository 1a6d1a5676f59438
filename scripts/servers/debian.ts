import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { chownSync, existsSync, readdirSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'

/** A server of this machine that runs until it is stopped. */
export interface DebianServer {
  readonly port: number
  stop(): Promise<void>
}

/** Starts `postgresql`, `mariadb-server` and `redis-server` of Debian on free ports, with their data in a folder. */
export function debianServers(folder: string) {
  const isRoot = process.getuid?.() === 0

  async function postgres(): Promise<DebianServer> {
    const [version] = readdirSync('/usr/lib/postgresql').sort().reverse()
    const bin = (name: string): string => `/usr/lib/postgresql/${version}/bin/${name}`
    const [data, port] = [join(folder, 'pg'), await freePort()]
    const uid = isRoot ? Number(execFileSync('id', ['-u', 'postgres'], { encoding: 'utf8' })) : undefined
    if (uid !== undefined) chownSync(folder, uid, -1)
    const how = uid === undefined ? {} : { uid }
    if (!existsSync(data))
      execFileSync(bin('initdb'), ['-D', data, '-A', 'trust', '-U', 'postgres'], { stdio: 'ignore', ...how })
    const server = await started(
      port,
      bin('postgres'),
      ['-D', data, '-p', `${port}`, '-k', folder, '-c', 'fsync=off'],
      uid,
    )
    // It listens before it answers.
    while (spawnSync(bin('pg_isready'), ['-q', '-h', '127.0.0.1', '-p', `${port}`]).status !== 0) await pause()
    return server
  }

  async function mariadb(): Promise<DebianServer> {
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

  async function redis(): Promise<DebianServer> {
    const port = await freePort()
    return started(port, 'redis-server', ['--port', `${port}`, '--save', '', '--dir', folder])
  }

  return { postgres, mariadb, redis }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

async function started(port: number, command: string, args: readonly string[], uid?: number): Promise<DebianServer> {
  const child = spawn(command, args, { stdio: 'ignore', ...(uid === undefined ? {} : { uid }) })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  for (;;) {
    const isUp = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true)).once('error', () => resolve(false))
      socket.once('connect', () => socket.destroy())
    })
    if (isUp) break
    if (child.exitCode !== null) throw new Error(`${command} ended with ${child.exitCode}`)
    await pause()
  }
  return {
    port,
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 100))
}
