import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { framed } from '../../src/cli/debug/dap-stream.ts'
import { CodeSession, DebugSession, type Launch } from '../../src/debug/index.ts'
import { readTape } from '../../src/tape/index.ts'
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
    ['SIGHUP', 129],
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)(
    '%s leaves no process of the agent and no file, and no command behind it is done',
    async (signal, code) => {
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
      debug.stdin.write('code; print process.pid; call (() => { for (;;); })(); first\n')
      const answers: { readonly value?: number }[] = []
      for await (const line of createInterface({ input: debug.stdout })) {
        answers.push(JSON.parse(line) as { readonly value?: number })
        if (answers.length === 2) debug.kill(signal)
      }
      expect(await ended).toBe(code)
      expect(answers).toHaveLength(2)
      await gone(answers[1]?.value ?? 0)
      expect(readdirSync(temporary)).toEqual([])
    },
  )
})

describe('the process of the agent', () => {
  it('ends when the thread that leads it fails, whatever it waits for', async () => {
    const socket = join(dir, 'leads')
    const server = createServer().listen(socket)
    const module = `${resolve('fixtures/debug/refund-agent.ts')}#refundAgent`
    const given = { tape: join(dir, 'refund.tape.jsonl'), spec: module, options: {}, socket }
    const agent = spawn(process.execPath, [built('cli/debug-agent.js')], {
      stdio: 'ignore',
      env: { ...process.env, VITEST_HARVEST_DEBUG: JSON.stringify(given) },
    })
    const ended = once(agent, 'exit')
    const [peer] = (await once(server, 'connection')) as [Socket]
    for await (const line of createInterface({ input: peer })) if (line.includes('"ready"')) peer.write('no message\n')
    expect(await ended).toEqual([null, 'SIGKILL'])
    server.close()
  })

  it('hears that it is over when it could not load the agent, whoever started it', async () => {
    const socket = Promise.withResolvers<Socket>()
    const failed = { code: 'HARVEST_AGENT_IMPORT', facts: { what: 'Cannot load the agent refund' } }
    const start: Launch = (address) => {
      const pipe = connect(address, () => pipe.write(`${JSON.stringify({ failed })}\n`))
      socket.resolve(pipe)
      // What started that process is ended, and not the process.
      return { stop: () => {}, failed: new Promise<never>(() => {}) }
    }
    const session = new DebugSession(readTape(join(dir, 'refund.tape.jsonl')))
    const code = new CodeSession(session.steps, start)
    await expect(code.enter(1)).rejects.toThrow('Cannot load the agent refund')
    await once((await socket.promise).resume(), 'close')
    code.close()
  })

  it('ends with an editor that leaves while it is loaded', async () => {
    const module = join(dir, 'never.mjs')
    writeFileSync(module, 'setInterval(() => {}, 1e6)\nawait new Promise(() => {})\nexport const agent = () => 1\n')
    const requests = ['initialize', 'launch', 'configurationDone', 'stepIn', 'disconnect'].map((command, index) =>
      framed({ seq: index + 1, type: 'request', command, arguments: {} }),
    )
    const args = ['debug', join(dir, 'refund.tape.jsonl'), '--dap', '--module', `${module}#agent`]
    const left = await run(process.execPath, [built('cli/main.js'), ...args], { input: requests.join('') })
    expect(left).toMatchObject({ code: 0, stdout: expect.stringContaining('"event":"terminated"') as string })
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
