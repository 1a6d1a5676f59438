import { once } from 'node:events'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { createRecorder } from '../../src/record/index.ts'
import { warmHarvest as harvest } from './harvest.ts'
import { configFor, project } from './project.ts'

/** Fetches the name of its issuer while it loads and the keys at its first use, as clients of a process do. */
const agentFile = `
const { issuer } = await (await fetch(process.env.DESK_URL + '/issuer')).json()
let keys
export async function desk(order) {
  keys ??= fetch(process.env.DESK_URL + '/keys').then((answer) => answer.json())
  const { kid } = await keys
  const answer = await fetch(process.env.DESK_URL + '/orders/' + order)
  return { issuer, kid, ...(await answer.json()) }
}
`

it('a run of a process that had fetched before is promoted with what it needs, and every case says so', {
  tags: 'thorough',
}, async () => {
  const server = createServer((request, response) => {
    const known: Readonly<Record<string, object>> = {
      '/keys': { kid: 'k1', client_secret: 'tr33house-of-ada', from: 'ada@shop.example' },
      '/issuer': { issuer: 'i1' },
    }
    response.end(JSON.stringify(known[String(request.url)] ?? { path: request.url }))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const cwd = project({ 'vitest.config.ts': configFor({ desk: './desk.js#desk' }), 'desk.js': agentFile })
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }))
  process.env['DESK_URL'] = base
  // Made first: what is fetched while modules load is heard.
  const recorder = createRecorder({ dir: join(cwd, 'recordings/inbox') })
  const { desk } = (await import(pathToFileURL(join(cwd, 'desk.js')).href)) as { desk(order: number): unknown }
  for (const order of [1, 2, 3])
    await recorder.run({ agent: 'desk', id: `order-${order}`, input: order }, () => desk(order))
  server.close()
  server.closeAllConnections()

  const env = { DESK_URL: base }
  const fresh = await harvest(['show', 'order-3'], { cwd })
  expect(fresh.stdout).toContain(`GET ${base}/issuer, recorded 20`)
  const { code, stdout } = await harvest(['promote', 'order-3', '--as', 'third'], { cwd, env })
  const kept = readdirSync(join(cwd, 'recordings/shared'))
  expect([code, kept]).toEqual([0, [expect.any(String), expect.any(String)]])
  for (const path of ['/keys', '/issuer'])
    expect(stdout).toContain(`shared: GET ${base}${path}, which the process had already`)
  const shared = kept.map((file) => readFileSync(join(cwd, 'recordings/shared', file), 'utf8')).join('')
  expect(shared).toContain('redacted-secret-1')
  for (const secret of ['tr33house', 'ada@']) expect(shared).not.toContain(secret)
  for (const file of kept) expect(stdout).toContain(`kept once for all cases: recordings/shared/${file}`)

  rmSync(join(cwd, 'recordings/inbox'), { recursive: true })
  const run = await harvest(['test'], { cwd, env: { ...env, CI: 'true' } })
  expect([run.code, run.stdout]).toEqual([0, expect.stringContaining('1 passed')])
  const [shown, checked] = await Promise.all([harvest(['show', 'third'], { cwd }), harvest(['check'], { cwd })])
  for (const path of ['/keys', '/issuer']) expect(shown.stdout).toContain(`GET ${base}${path}, recorded 20`)
  const listed = kept.map((file) => `shared by all cases: recordings/shared/${file}\n`).join('')
  expect([checked.code, checked.stdout]).toEqual([0, `${listed}4 files checked, nothing to fix\n`])
})
