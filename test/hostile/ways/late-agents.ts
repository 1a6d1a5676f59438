/** Agents that put work off until their run is over, as files of a project. `file`: what would be touched. */
export const lateAgents = (port: number, file: (name: string) => string): Readonly<Record<string, string>> => ({
  // Started while it loads, and belongs to no run.
  loaded: `import { connect } from 'node:net'
const knock = () => connect(${port}, '127.0.0.1').on('error', () => undefined)
let answered = false
let turns = 0
const again = () => { if (answered && ++turns > 1) knock(); else setImmediate(again) }
export default async () => { answered = true }
setImmediate(again)
`,
  // In the context of its run.
  unawaited: `import { connect } from 'node:net'
export default async () => {
  void (async () => {
    for (let i = 0; i < 500; i++) await undefined
    connect(${port}, '127.0.0.1').on('error', () => undefined)
  })()
}
`,
  exits: `import { spawnSync } from 'node:child_process'
export default async () => { process.on('exit', () => spawnSync('touch', [${JSON.stringify(file('exits'))}])) }
`,
  'before-exit': `import { spawnSync } from 'node:child_process'
export default async () => { process.once('beforeExit', () => spawnSync('touch', [${JSON.stringify(file('before-exit'))}])) }
`,
  hears: `import { spawnSync } from 'node:child_process'
export default async () => { process.addListener('message', () => spawnSync('touch', [${JSON.stringify(file('hears'))}])) }
`,
  collected: `import { spawnSync } from 'node:child_process'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
setFlagsFromString('--expose-gc')
const gc = runInNewContext('gc')
const registry = new FinalizationRegistry(() => spawnSync('touch', [${JSON.stringify(file('collected'))}]))
export default async () => {
  registry.register({}, 1)
  gc()
}
`,
})
