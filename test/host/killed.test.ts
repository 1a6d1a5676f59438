import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { openHome } from './inline.ts'
import { config, golden, refundSources } from './refund.ts'

// Workers of Vitest 5 end with their runner by themselves: test/cli/blame.test.ts.
it('a command that was killed leaves no run in a worker of Vitest 4', async () => {
  using home = openHome(4)
  const { folder, bin } = home.project('killed', {
    'vitest.config.ts': config('', '', `waits: './src/waits.ts'`),
    ...refundSources,
    'src/waits.ts': `import { renameSync, writeFileSync } from 'node:fs'
writeFileSync('pid.part', String(process.pid))
renameSync('pid.part', 'pid')
setInterval(() => {}, 1e6)
await new Promise(() => {})
export default async () => ({ refunded: 25 })\n`,
    ...golden('waits', 'baseline: []\n', { agent: 'waits', calls: [] }),
  })
  const command = spawn(process.execPath, [bin('harvest'), 'doctor', 'waits'], { cwd: folder, stdio: 'ignore' })
  const pid = join(folder, 'pid')
  while (!existsSync(pid)) await setTimeout(50)
  command.kill('SIGKILL')
  await once(command, 'exit')
  await expect.poll(() => isAlive(Number(readFileSync(pid, 'utf8'))), { timeout: 60_000 }).toBe(false)
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    // It is gone.
    return false
  }
}
