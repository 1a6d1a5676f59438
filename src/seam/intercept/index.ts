import module from 'node:module'
import net from 'node:net'
import { patchClock } from '../clock.ts'
import { patchRandom } from '../random.ts'
import { interceptTimers } from '../timers.ts'
import { attributeRequests } from './attribution.ts'
import { answerExpectedOn } from './expected-http.ts'
import { installGuard } from './guard.ts'
import { interceptHttp, isMockListening, isMockSharing } from './http.ts'
import { interceptHttp2 } from './http2.ts'
import { keepOnTop } from './on-top.ts'
import { interceptStdio } from './stdio.ts'
import { watchThreadWork } from './thread-work.ts'
import { interceptUndici } from './undici.ts'
import { interceptUpgrades } from './websocket.ts'

export { closeIdleConnections, forgetRuns } from './attribution.ts'
export { type Confinement, confine, confinement } from './confine.ts'
export { refusalOfLoaded } from './guard-add-ons.ts'
export type { ModuleWatch } from './module-layers.ts'
export { agentRan, heedAgent, heedModules } from './on-top.ts'
export { hearSockets, type OutsideAnswers, type Watcher, watchOutside } from './outside.ts'
export { currentWork, inWork, type UninstrumentedIo, listOnce, type AgentWork } from './work.ts'
export type { Pairs } from '../pairs.ts'
export * from './responder.ts'
export { isThreadWorking } from './thread-work.ts'
export { real } from '../timers.ts'

let isInstalled = false

/**
 * Takes over everything a run can reach, once per process. Before agent code is loaded: what the agent captured
 * earlier stays as it was.
 */
export function installInterceptors(): void {
  // Asked for again before every replay; someone may have set another global dispatcher meanwhile, or put theirs over ours.
  if (isInstalled) {
    interceptUndici()
    return keepOnTop()
  }
  readGlobals()
  const isMockBeneath = isMockListening()
  // The guard goes under the interceptors: what they let through, it refuses.
  installGuard()
  patchClock()
  patchRandom()
  interceptTimers()
  watchThreadWork()
  const { connect } = net.Socket.prototype
  interceptHttp()
  attributeRequests(connect, answerExpectedOn, isMockBeneath, isMockSharing)
  interceptUndici()
  interceptHttp2()
  interceptStdio()
  interceptUpgrades()
  isInstalled = true
  keepOnTop()
}

/**
 * In a context of a vm pool, Vitest makes Node's globals when they are first read, and fails once the file of the context is
 * over. What is installed once in a process answers the files after it as well.
 */
function readGlobals(): void {
  if (module === process.getBuiltinModule('node:module')) return
  // Storage has no part in a replay, and Node warns of it.
  for (const name of Object.getOwnPropertyNames(globalThis))
    if (!/^(?:local|session)Storage$/.test(name)) Reflect.get(globalThis, name)
}
