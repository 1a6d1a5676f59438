import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import net from 'node:net'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { HarvestError } from '../../src/errors/index.ts'
import { forkTape } from '../../src/fork/index.ts'
import { undeliverable, unhandled } from '../../src/playback/problems.ts'
import { redactorForMessages } from '../../src/match/redact-message.ts'
import { CaseWork } from '../../src/vitest/case-work.ts'
import { openBudget, runLive } from '../../src/live/index.ts'
import { describeEnding, guardLoading, installReplay, replayTape, verdictOf } from '../../src/replay/index.ts'
import { CaseFailure } from '../../src/vitest/case-failure.ts'
import { NeutralReporter } from '../../src/vitest/neutral-reporter.ts'
import { replay } from '../../src/vitest/index.ts'
import { asText, personal, planted, stillIn } from '../privacy/planted.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { tapeOf } from './tapes.ts'

const secrets = planted.filter(({ class: name }) => !personal.has(name))
const told = secrets.map(asText).join('\n')

test('what is thrown around a case is told without its secrets, its causes and the request it carries too', () => {
  const stack = `Error: ${told}\n    at agent (/shop/node_modules/.pnpm/lodash@4.17.21/a.js:1:2)`
  const cause = { name: 'Error', message: told, stack, errors: [{ message: told }], cause: told }
  const request = { url: 'https://shop.example', headers: { 'x-api-key': 'tr33house', accept: '*/*' } }
  const error: Record<string, unknown> = { name: 'APIError', message: told, stack, cause, request, status: 401 }
  // Both lead in circles.
  Object.assign(request, { error })
  Object.assign(cause, { cause: { message: told, cause } })
  const project = { config: { provide: { 'vitest-harvest/set': {} } } }
  const module = { project, errors: () => [error] }
  new NeutralReporter().onTestModuleEnd(module as never)
  expect(request.headers).toEqual({ 'x-api-key': expect.stringMatching(/^redacted-secret-\d+$/), accept: '*/*' })
  const text = inspect(error, { depth: 9, maxStringLength: Number.POSITIVE_INFINITY })
  expect(stillIn(text)).toEqual([])
  expect(error).toMatchObject({ name: 'APIError', status: 401 })
  expect(text).toContain('at agent (/shop/node_modules/.pnpm/lodash@4.17.21/a.js:1:2)')
})

test('a red case shows what the agent threw without its secrets, by the rules of its tape as well', () => {
  const thrown = Object.assign(new Error(`${told}\nKD-12345678`), { request: told })
  const error = new HarvestError('HARVEST_OUTCOME_KIND', { what: 'The agent threw' }, { cause: thrown })
  const rules = [{ kind: 'ticket', pattern: 'KD-\\d{8}', flags: 'g' }]
  const tape = { source: 'a', header: { flags: ['redactor-2'], redact: { rules } } } as never
  const place = { file: 'a.case.yaml', line: 1, column: 1 }
  for (const failure of [new CaseFailure({ error, place }), new CaseFailure({ error, place, tape })]) {
    const { cause } = failure as { cause: Error }
    expect(stillIn(`${cause.message}${cause.stack}${JSON.stringify(cause)}`)).toEqual([])
    expect(cause.stack).toContain('told-errors.test.ts')
  }
  expect((new CaseFailure({ error, place, tape }).cause as Error).message).toContain('\nredacted-ticket-1')
})

/** What an agent says by itself, and how it ends. */
const ended = { kind: 'close', n: 1, at: 1, events: 0, outcome: { status: 'returned', value: null } } as never
const endsOtherwise = (): never => {
  throw new Error(told, { cause: told })
}

test('how a live run ended is told without its secrets', async () => {
  await installReplay()
  const budget = openBudget({})
  const options = { signal: new AbortController().signal, budget }
  for (const agent of [endsOtherwise, () => Promise.reject(told as never), () => ({ told })]) {
    const run = await runLive({ ...tapeOf([]), close: ended }, agent, options)
    const { differences } = verdictOf(run)
    expect(differences).toHaveLength(1)
    expect(stillIn([describeEnding(run), differences[0]?.message, JSON.stringify(run.redactedOutcome)].join())).toEqual(
      [],
    )
  }
})

test('what an agent writes to the console, and what a test of ones own is handed, stays as it is', async () => {
  await installReplay()
  const log = { content: told, taskId: 'unknown' }
  const reporter = new NeutralReporter()
  reporter.onUserConsoleLog(log)
  expect(stillIn(log.content)).toHaveLength(secrets.length)
  const tape = { ...tapeOf([]), close: ended }
  await expect(replay(tape, endsOtherwise)).rejects.toMatchObject({ message: told, cause: told })
  expect((await replay(tape, () => ({ told }), { outcome: 'ignore' })).outcome).toEqual({
    status: 'returned',
    value: { told },
  })
})

const key = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`

test('what an agent was refused, and what it was let do, is told without its secrets', async () => {
  await installReplay()
  const folder = temporaryFolder('told')
  const ways = [
    () => net.connect(80, `${key}.example`).on('error', () => undefined),
    () => spawnSync('curl', ['--token', key]),
    () => writeFileSync(join(folder, key), ''),
  ]
  const attempt = (): null => {
    for (const way of ways)
      try {
        way()
      } catch {
        // It is refused, and goes on.
      }
    return null
  }
  const tape = { ...tapeOf([]), close: ended }
  const { signal } = new AbortController()
  const runs = [
    await replayTape(tape, attempt),
    await forkTape(tape, attempt, { keep: 0, tail: { from: 'tape' } }),
    await runLive(tape, attempt, { signal, budget: openBudget({}) }),
  ]
  for (const { problems, escapes, listed } of runs) {
    const said = [problems.map(({ message }) => message), escapes.map(({ target }) => target)]
    for (const part of [...said, listed.map(({ target }) => target)]) {
      expect(part.join()).toContain('redacted-github-token-1')
      expect(part.join()).not.toContain('ghp_')
    }
  }
  const loading = guardLoading(
    () => Promise.resolve(net.connect(80, `${key}.example`).on('error', () => undefined)),
    [],
    tape,
  )
  await expect(loading).rejects.toThrow(/redacted-github-token-1\.example/)
})

test('what is told of an agent takes no number from what is on the tape', async () => {
  await installReplay()
  const folder = temporaryFolder('numbers')
  const url = 'https://post.example/send'
  const to = (who: string) => ({ url, body: JSON.stringify({ to: who }) })
  const tape = { ...tapeOf([to('redacted-1@email.invalid'), to('redacted-2@email.invalid')]), close: ended }
  const run = await replayTape(tape, async () => {
    writeFileSync(join(folder, 'kim.lee@acme.com'), '')
    for (const who of ['jo.doe@acme.com', 'kim.lee@acme.com'])
      await (await fetch(url, { method: 'POST', body: JSON.stringify({ to: who }) })).text()
    return null
  })
  expect([run.problems, run.drift]).toEqual([[], []])
  expect(run.listed.map(({ target }) => target)).toEqual([expect.stringContaining('redacted-1@email.invalid')])
})

test('what an agent leaves unhandled, its client refuses, or it does when its case is over, is told without its secrets', () => {
  const tape = tapeOf([])
  for (const error of [new Error(told), told]) {
    expect(stillIn(unhandled({ case: 'a' }, { kind: 'rejected', error }, tape).message)).toEqual([])
    const place = { tape, site: undefined, after: undefined, made: 0 }
    expect(stillIn(undeliverable(place, error).message)).toEqual([])
  }
  const redactMessage = redactorForMessages()
  const work = new CaseWork('a', [], () => undefined, redactMessage)
  work.list({ kind: 'write', by: 'fs.writeFileSync', target: `/shop/${key}` })
  expect(work.listed.map(({ target }) => target)).toEqual([
    expect.stringMatching(/^\/shop\/redacted-github-token-\d+$/),
  ])
  expect(work.escapeLate('socket', `${key}.example`)?.message).toMatch(/redacted-github-token-\d+\.example/)
})
