import { expect, test, vi } from 'vitest'
import { HarvestError } from '../../src/errors/index.ts'
import { CaseFailure } from '../../src/vitest/case-failure.ts'
import { NeutralReporter } from '../../src/vitest/neutral-reporter.ts'
import { asText, personal, planted, stillIn } from '../privacy/planted.ts'

vi.mock('../../src/vitest/project.ts', () => ({ isOwn: () => true }))

const secrets = planted.filter(({ class: name }) => !personal.has(name))
const told = secrets.map(asText).join('\n')

test('what is thrown around a case is told without its secrets, its causes and the request it carries too', () => {
  const stack = `Error: ${told}\n    at agent (/shop/node_modules/.pnpm/lodash@4.17.21/a.js:1:2)`
  const cause = { name: 'Error', message: told, stack, errors: [{ message: told }], cause: told }
  const request = { url: 'https://shop.example', headers: { 'x-api-key': 'tr33house', accept: '*/*' } }
  const error: Record<string, unknown> = { name: 'APIError', message: told, stack, cause, request, status: 401 }
  Object.assign(request, { error })
  const module = { project: {}, errors: () => [error] }
  new NeutralReporter().onTestModuleEnd(module as never)
  Reflect.deleteProperty(request, 'error')
  expect(request.headers).toEqual({ 'x-api-key': expect.stringMatching(/^redacted-secret-\d+$/), accept: '*/*' })
  const text = JSON.stringify(error)
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
    expect(cause.stack).toContain('neutral-reporter.test.ts')
  }
  expect((new CaseFailure({ error, place, tape }).cause as Error).message).toContain('\nredacted-ticket-1')
})
