import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { run } from '../cli/harvest.ts'
import { built } from '../support/built.ts'

let dir: string
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'harvest-debug-ends-'))
  await run(process.execPath, [resolve('fixtures/debug/record-refund.ts'), dir, 'refund'])
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

describe('a signal that ends the debugger', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s leaves no process of the agent and no file', async (signal, code) => {
    const temporary = join(dir, signal)
    mkdirSync(temporary)
    const module = `${resolve('fixtures/debug/refund-agent.ts')}#refundAgent`
    const args = [built('cli/main.js'), 'debug', join(dir, 'refund.tape.jsonl'), '--json', '--module', module]
    const debug = spawn(process.execPath, args, {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, TMPDIR: temporary },
    })
    const ended = new Promise((resolved) => debug.once('close', resolved))
    // The input stays open: nothing but the signal ends it.
    debug.stdin.write('code; print process.pid\n')
    const pids: number[] = []
    for await (const line of createInterface({ input: debug.stdout })) {
      const { value } = JSON.parse(line) as { readonly value?: number }
      if (value === undefined) continue
      pids.push(value)
      debug.kill(signal)
    }
    expect(await ended).toBe(code)
    expect(pids).toHaveLength(1)
    await gone(pids[0] ?? 0)
    expect(readdirSync(temporary)).toEqual([])
  })
})

/** Settles when no process has this number. */
async function gone(pid: number): Promise<void> {
  try {
    for (;;) {
      process.kill(pid, 0)
      await setTimeout(20)
    }
  } catch (error) {
    expect(error).toMatchObject({ code: 'ESRCH' })
  }
}
