import '../support/packed.ts'
import { spawnSync } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Home, openHome } from '../host/inline.ts'
import { config, golden, refundSources } from '../host/refund.ts'

/** Asks whether somebody listens, and says why not. */
const knocks = (port: number): string => `import { connect } from 'node:net'
export default () => new Promise((resolve) => {
  const socket = connect(${port}, '127.0.0.1').on('data', () => resolve('reached')).on('error', ({ code }) => resolve(code))
  socket.write('who is there?')
})
`

describe('harvest test --no-network', () => {
  let home: Home
  const arrived: unknown[] = []
  const server = createServer((socket) => {
    arrived.push(socket.remotePort)
    socket.on('error', () => undefined).end('me')
  })
  beforeAll(async () => {
    home = openHome(5)
    await once(server.listen(0, '127.0.0.1'), 'listening')
  })
  afterAll(() => {
    server.close()
    home?.[Symbol.dispose]()
  })

  const project = (name: string, more: Readonly<Record<string, string>> = {}) => {
    const { port } = server.address() as AddressInfo
    return home.project(name, {
      // What a config lets through is stopped by the system.
      'vitest.config.ts': config(`allow: ['socket 127.0.0.1:${port}']`, '', "knocks: './src/knocks.ts'"),
      ...refundSources,
      'src/knocks.ts': knocks(port),
      ...golden('knocks', 'baseline: []\noutcome: ENETUNREACH\n', { agent: 'knocks', calls: [] }),
      ...more,
    })
  }

  it('runs the cases where not even an allowed socket arrives, or says why it cannot and runs nothing', {
    tags: 'thorough',
  }, async () => {
    const isPossible = spawnSync('unshare', ['-rn', 'true']).status === 0
    const result = await project('shut').run(['test', '--no-network'], { bin: 'harvest' })
    expect(arrived).toEqual([])
    expect(result.code, result.output).toBe(isPossible ? 0 : 2)
    expect(result.output).toMatch(isPossible ? /Recordings {2}1 replayed/ : /HARVEST_CLI_NO_NETWORK/)
  })

  it('connects no socket of a file, though the config allows all', { tags: 'thorough' }, async ({ skip }) => {
    skip(spawnSync('unshare', ['-rn', 'true']).status !== 0)
    const byFile = (path: string) => `import { connect } from 'node:net'
export default () => new Promise((resolve) => {
  const socket = connect(${JSON.stringify(path)}).on('connect', () => resolve('reached')).on('error', ({ code }) => resolve(code))
  socket.write('who is there?')
})
`
    for (const [at, options] of ["allow: ['*']", "escapes: 'report'"].entries()) {
      const files = home.project(`file-${at}`, {
        'vitest.config.ts': config(options, '', "whole: './src/whole.ts', near: './src/near.ts'"),
        ...refundSources,
        ...golden('whole', 'baseline: []\noutcome: reached\n', { agent: 'whole', calls: [] }),
        ...golden('near', 'baseline: []\noutcome: reached\n', { agent: 'near', calls: [] }),
      })
      const reached: string[] = []
      // The second name looks like a host and its port.
      const names = { whole: path.join(files.folder, 'whole.sock'), near: 'near:5432' }
      const servers = await Promise.all(
        Object.entries(names).map(async ([name, file]) => {
          files.write(`src/${name}.ts`, byFile(file))
          const one = createServer((socket) => {
            reached.push(name)
            socket.on('error', () => undefined).end('me')
          })
          await once(one.listen(path.resolve(files.folder, file)), 'listening')
          return one
        }),
      )
      try {
        const shut = await files.run(['test', '--no-network'], { bin: 'harvest' })
        expect([shut.code, reached], shut.output).toEqual([1, []])
        expect(shut.output).toContain('the same command without --no-network')
        const open = await files.run(['test'], { bin: 'harvest' })
        expect([open.code, reached.sort()], open.output).toEqual([0, ['near', 'whole']])
      } finally {
        for (const one of servers) one.close()
      }
    }
  })

  it('exits with 2 and the reason where the system refuses, and runs nothing', async () => {
    const refusing = '#!/bin/sh\necho "unshare: Operation not permitted" >&2\nexit 1\n'
    const refused = project('refused', { 'bin/unshare': refusing })
    chmodSync(path.join(refused.folder, 'bin/unshare'), 0o755)
    const env = { PATH: `${path.join(refused.folder, 'bin')}:${process.env['PATH'] ?? ''}` }
    const result = await refused.run(['test', '--no-network'], { bin: 'harvest', env })
    expect(result.code).toBe(2)
    expect(result.stderr).toMatch(/reason +unshare: Operation not permitted[^]*HARVEST_CLI_NO_NETWORK/)
    expect(result.output).not.toContain('Recordings')
  })

  it('is no way to ask a model', async () => {
    const result = await project('proof').run(['test', 'knocks', '--prove', '--no-network'], { bin: 'harvest' })
    expect(result.code).toBe(2)
    expect(result.stderr).toContain('HARVEST_CLI_OPTION')
  })
})
