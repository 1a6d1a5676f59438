import { expect, it } from 'vitest'
import { openHome } from './inline.ts'
import { config, golden } from './refund.ts'

const local = { HARVEST_ALLOW_CI_UPDATE: '1', GIT_CONFIG_GLOBAL: '/dev/null' }
const made = `Object.assign(new AggregateError([new Error('a', { cause: new Error('x') }), new Error('b')], 'all'), {
  hint: 'try',
  part: new Error('inner'),
})`
const thrown = Object.assign(new AggregateError([new Error('a', { cause: new Error('x') }), new Error('b')], 'all'), {
  hint: 'try',
  part: new Error('inner'),
})

/** What the agent of a case makes of its error, by the id of the case. */
const held = {
  'inner-message': 'error.errors[0].message = "c"',
  'inner-less': 'error.errors.pop()',
  'inner-more': 'error.errors.push(new Error("c"))',
  'inner-cause': 'error.errors[0].cause = new Error("y")',
  hint: 'error.hint = "go"',
  'inner-none': 'error.errors.length = 0',
  'field-less': 'delete error.hint',
}
const notHeld = {
  'field-error': 'error.part.message = "outer"',
}
const agent = `const edits = {
${Object.entries({ ...held, ...notHeld })
  .map(([id, code]) => `  '${id}': (error) => { ${code} },\n`)
  .join('')}}
export function refundAgent({ id }) {
  const error = ${made}
  if (process.env.EDITED) edits[id](error)
  throw error
}
`

it('an update of a changed error is printed where it is written, and a new recording elsewhere', {
  tags: 'thorough',
}, async () => {
  using home = openHome(5)
  const [written, refused] = [Object.keys(held), Object.keys(notHeld)]
  const cases = [...written, ...refused].map((id) =>
    golden(id, 'baseline: []\n', { input: { id }, calls: [], threw: thrown }),
  )
  const project = home.project('thrown', {
    'vitest.config.ts': config(),
    'src/refund.ts': agent,
    ...Object.assign({}, ...cases),
  })
  const run = (args: readonly string[], isEdited = true) =>
    project.run(['test', ...args], { bin: 'harvest', env: { ...local, ...(isEdited && { EDITED: '1' }) } })
  const update = (ids: readonly string[]) => run([...ids, '--update-recordings', '--reason', 'meant'])
  const printed = (output: string) =>
    [...output.matchAll(/harvest test (\S+) --update-recordings/g)].map(([, id]) => id)
  expect((await run([], false)).code).toBe(0)

  const red = await run([])
  expect([red.code, [...new Set(printed(red.output))].sort()]).toEqual([1, written.toSorted()])
  expect(red.output.match(/record the run again and promote the new tape/g)).toHaveLength(refused.length)

  const before = project.hash()
  const none = await update(refused)
  expect([none.code, printed(none.output), project.hash()]).toEqual([1, [], before])
  expect((await update(written)).code).toBe(0)
  expect((await run(written)).code).toBe(0)
  // The case has the new error, so the recorded one is red.
  const back = await run(written, false)
  expect([back.code, back.output]).toEqual([1, expect.stringContaining(`0 replayed, ${written.length} diverged`)])
})
