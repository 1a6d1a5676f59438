import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeLanes, type Home, openHome, type RunResult } from './inline.ts'
import { config, golden, refundBaseline, refundSources } from './refund.ts'

const throwing = `const fail = (): never => { throw new TypeError('too late') }\n`
/** Agents that return, and then throw. */
const agents = {
  'src/timer.ts': `${throwing}export default async () => { setTimeout(fail, 50) }\n`,
  'src/immediate.ts': `${throwing}export default async () => { setImmediate(fail) }\n`,
  'src/tick.ts': `${throwing}export default async () => { process.nextTick(fail) }\n`,
  'src/microtask.ts': `${throwing}export default async () => { queueMicrotask(fail) }\n`,
  'src/promise.ts': `${throwing}export default async () => { void Promise.resolve().then(fail) }\n`,
  'src/waited.ts': `${throwing}export default async () => { void new Promise((done) => setTimeout(done, 50)).then(fail) }\n`,
  'src/interval.ts': `${throwing}export default async () => { setInterval(fail, 1000) }\n`,
}
const keys = Object.keys(agents).map((file) => file.slice('src/'.length, -'.ts'.length))

describeLanes('a throw after the agent returned, under Vitest %i', (lane) => {
  let home: Home
  let result: RunResult
  beforeAll(async () => {
    home = openHome(lane)
    const project = home.project('late', {
      'vitest.config.ts': config('', '', keys.map((key) => `'${key}': './src/${key}.ts'`).join(', ')),
      ...refundSources,
      ...agents,
      ...Object.assign({}, ...keys.map((agent) => golden(agent, 'baseline: []\n', { agent, calls: [] }))),
      ...golden('holds', refundBaseline),
    })
    result = await project.run(['run', '--maxWorkers=1'])
  })
  afterAll(() => home?.[Symbol.dispose]())

  it.each(keys)('is red and names the case: %s', (key) => {
    const failure = new RegExp(`FAIL[^\\n]* golden/${key} > replays\\n([^]*?)\\(HARVEST_\\w+\\)`).exec(
      result.output,
    )?.[1]
    expect(failure).toContain('TypeError: too late')
    expect(failure).toMatch(new RegExp(`case +${key}\\n`))
  })

  it('leaves the other cases as they are', () => {
    expect(result.output).toMatch(new RegExp(`Recordings {2}1 replayed, ${keys.length} diverged`))
    expect(result.output).not.toContain('Not run')
  })
})
