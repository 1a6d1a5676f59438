import { once } from 'node:events'
import { readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { createRecorder } from '../../src/record/index.ts'
import { harvest } from './harvest.ts'
import { configFor, project } from './project.ts'

/** Fetches the keys of its issuer at its first use, as a client of a process does. */
const agentFile = `
let keys
export async function desk(order) {
  keys ??= fetch(process.env.DESK_URL + '/keys').then((answer) => answer.json())
  const { kid } = await keys
  const answer = await fetch(process.env.DESK_URL + '/orders/' + order)
  return { kid, ...(await answer.json()) }
}
`

it('a run of a process that had fetched before is promoted with what it needs, and every case says so', async () => {
  const server = createServer((request, response) => {
    response.end(JSON.stringify(request.url === '/keys' ? { kid: 'k1' } : { path: request.url }))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const cwd = project({ 'vitest.config.ts': configFor({ desk: './desk.js#desk' }), 'desk.js': agentFile })
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }))
  process.env['DESK_URL'] = base
  const { desk } = (await import(pathToFileURL(join(cwd, 'desk.js')).href)) as { desk(order: number): unknown }
  const recorder = createRecorder({ dir: join(cwd, 'recordings/inbox') })
  for (const order of [1, 2, 3])
    await recorder.run({ agent: 'desk', id: `order-${order}`, input: order }, () => desk(order))
  server.close()
  server.closeAllConnections()

  const env = { DESK_URL: base }
  const { code, stdout } = await harvest(['promote', 'order-3', '--as', 'third'], { cwd, env })
  expect([code, stdout]).toEqual([0, expect.stringContaining(`shared: GET ${base}/keys`)])
  const [kept = ''] = readdirSync(join(cwd, 'recordings/shared'))
  expect(stdout).toContain(`kept once for all cases: recordings/shared/${kept}`)

  rmSync(join(cwd, 'recordings/inbox'), { recursive: true })
  const run = await harvest(['test'], { cwd, env })
  expect([run.code, run.stdout]).toEqual([0, expect.stringContaining('1 passed')])
  const [shown, checked] = await Promise.all([harvest(['show', 'third'], { cwd }), harvest(['check'], { cwd })])
  expect(shown.stdout).toContain(`GET ${base}/keys, recorded 20`)
  expect([checked.code, checked.stdout]).toEqual([
    0,
    `shared by all cases: recordings/shared/${kept}\n3 files checked, nothing to mend\n`,
  ])
})
