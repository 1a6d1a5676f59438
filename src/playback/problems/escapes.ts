import { HarvestError, shellWord } from '../../errors/index.ts'
import { neutral, neutralLine } from '../../errors/neutral.ts'
import { captureStack, siteIn, userSite } from '../../seam/caller.ts'
import { type Driver, doorOf, driverIn } from '../../seam/clients/drivers.ts'
import { type Mocked, confinement } from '../../seam/intercept/index.ts'
import { knownAddOn } from '../../seam/known-add-ons.ts'
import type { LateWork, Tape } from '../../tape/index.ts'
import { isCutOff } from '../allow.ts'
import { placeOfMock } from '../mocks.ts'
import { type ProblemLocation, excerpt, where } from './place.ts'

/** @param madeAt - the stack at the place it was asked for, where that is gone by now */
export function escaped(place: ProblemLocation, kind: string, target: string, madeAt?: Error): HarvestError {
  if (kind === 'add-on' && confinement() !== 'strict') return nativeCode(target, where(place))
  if (kind.endsWith(' subscription')) return subscribed(place, kind, target)
  const driver = driverIn((madeAt ?? captureStack()).stack ?? '')
  if (driver !== undefined) return rawClient(driver, kind, target, where(place))
  return new HarvestError('HARVEST_ESCAPE', {
    what: `Blocked real I/O during replay: ${kind} ${neutral(target)}`,
    where: where(place),
    why: 'The recorder cannot see it, so the tape has no answer for it.',
    fix: [
      `wrap the function that does it in tool(), retriever() or value() from 'vitest-harvest/record', and record again`,
      ...(isConfined(kind) ? [unconfined(place.tape.header.agent)] : [allowed(kind, target)]),
    ],
  })
}

/** A client of a database or cache that is not behind the seam. */
function rawClient(driver: Driver, kind: string, target: string, at: Readonly<Record<string, string>>): HarvestError {
  return new HarvestError('HARVEST_ESCAPE', {
    what: `Blocked a connection of ${driver} during replay: ${kind} ${neutral(target)}`,
    where: at,
    why: 'The client is not wrapped, so its queries are not on the tape.',
    fix: [
      `wrap the client: ${doorOf(driver)}, with client from 'vitest-harvest/record', and record again`,
      allowed(kind, target),
    ],
  })
}

/** Messages that a server sends when it likes. */
function subscribed(place: ProblemLocation, kind: string, target: string): HarvestError {
  return new HarvestError('HARVEST_ESCAPE', {
    what: `A replay cannot answer this ${neutral(kind)}: ${excerpt(target)}`,
    where: where(place),
    why: 'Its messages come when the server sends them, and belong to no step.',
    fix: ['subscribe outside of the agent, and pass it each message as its input', allowed(kind, target)],
  })
}

/** Native code does its I/O beneath Node: that it was loaded is all there is to see. */
function nativeCode(name: string, where: Readonly<Record<string, string>>): HarvestError {
  const known = knownAddOn(name)
  return new HarvestError('HARVEST_ESCAPE', {
    what: `Blocked native code during replay: add-on ${neutral(name)}`,
    where,
    why:
      known === undefined
        ? 'What it does is unknown, and no recorder sees it.'
        : `It ${known.why}, where no recorder sees it.`,
    fix: [
      `import it inside a function wrapped in tool() or value() from 'vitest-harvest/record', and record again`,
      `if its answers need no recording: allow: ['add-on ${neutral(name)}']`,
    ],
  })
}

function allowed(kind: string, target: string): string {
  if (isCutOff(kind, target)) return 'if a test may reach it: the same command without --no-network'
  return `if a test may reach it: allow: ['${kind} ${neutral(target)}']`
}

/** What only a confined process refuses: a list of exceptions would not open it. */
function isConfined(kind: string): boolean {
  return kind === 'FileSystemWrite' || kind === 'add-on' || kind === 'node:sqlite'
}

function unconfined(agent: string): string {
  return `if this agent needs it: confine: { default: 'strict', agents: { '${neutralLine(agent)}': 'seam' } }`
}

/** @param what - what a mock answers for, because it was there before the replay */
export function mocked(place: ProblemLocation, what: Exclude<Mocked, 'timers'>): HarvestError {
  const at = placeOfMock(what)
  const file = at?.replace(/:\d+$/, '') ?? 'the set-up file'
  return new HarvestError('HARVEST_MOCKED', {
    what: `A mock answers the agent's ${what === 'fetch' ? '`fetch`' : 'HTTP requests'} instead of the tape`,
    where: { ...where(place), ...(at === undefined ? {} : { mock: at }) },
    why: 'The mock was installed before vitest-harvest, so requests never reach the replay.',
    fix: [
      `make \`import 'vitest-harvest/vitest'\` the first line of ${file}`,
      'or install the mock in the tests that need it, with beforeEach()',
    ],
  })
}

export function escapedWhileLoading(kind: string, target: string, madeAt?: Error): HarvestError {
  const site = madeAt ? siteIn(madeAt) : userSite()
  const at: Readonly<Record<string, string>> = site ? { at: site } : {}
  if (kind === 'add-on' && confinement() !== 'strict') return nativeCode(target, at)
  const driver = driverIn((madeAt ?? captureStack()).stack ?? '')
  if (driver !== undefined) return rawClient(driver, kind, target, at)
  return new HarvestError('HARVEST_ESCAPE', {
    what: `Blocked real I/O while the agent was loading: ${kind} ${neutral(target)}`,
    ...(site ? { where: { at: site } } : {}),
    why: 'It happens before the run starts, so it is never recorded.',
    fix: [
      ...(isConfined(kind)
        ? [unconfined('its name')]
        : ['connect inside the agent function, at its first call', allowed(kind, target)]),
    ],
  })
}

export function runOver(place: ProblemLocation, kind: string, target: string): HarvestError {
  return new HarvestError('HARVEST_RUN_OVER', {
    what: `Blocked real I/O after the run ended: ${kind} ${neutral(target)}`,
    where: where(place),
    why: 'The agent started work that it did not await.',
    fix: ['await everything the agent starts before it returns'],
  })
}

/** @param name - the case whose agent it was */
export function afterRun(name: string, kind: string, target: string): HarvestError {
  const site = userSite()
  return new HarvestError('HARVEST_RUN_OVER', {
    what: `Blocked real I/O after the run: ${kind} ${neutral(target)}`,
    where: { case: name, ...(site === undefined ? {} : { at: site }) },
    why: 'The agent started work that continued after it answered.',
    fix: [
      'await everything the agent starts before it returns, and stop what its modules start',
      `if a test may reach it: allow: ['${kind} ${neutral(target)}']`,
    ],
  })
}

/** Something that no recording holds, and that the recorder did not see either. */
export function lateAction(tape: Tape, { kind, name, path = '' }: LateWork, site: string | undefined): HarvestError {
  return new HarvestError('HARVEST_RUN_OVER', {
    what: `The agent ${lateVerbs[kind]} ${neutral(name + path)} after it returned, which it did not when recorded`,
    where: { tape: tape.header.id, ...(site === undefined ? {} : { at: site }) },
    why: 'A recording ends when the agent returns, so no replay can compare what follows.',
    fix: [
      'await everything the agent starts before it returns',
      'if the recorded agent did it as well: record again, and let the process live until it has done it',
    ],
  })
}

const lateVerbs: Readonly<Record<LateWork['kind'], string>> = {
  tool: 'called tool',
  retrieval: 'called retrieval',
  message: 'sent message',
  mark: 'left mark',
  state: 'left state',
  request: 'made request',
}

export function notOnTape(place: ProblemLocation, command: readonly string[]): HarvestError {
  return new HarvestError('HARVEST_ESCAPE', {
    what: `Blocked a child process that is not on the tape: ${neutral(command.join(' '))}`,
    where: where(place),
    why: 'Only child processes that speak JSON over stdio, one message a line, can be replayed.',
    fix: [`wrap the function that starts it in tool() or value() from 'vitest-harvest/record', and record again`],
  })
}

/**
 * @param command - of a program that the recorded run started as well
 * @param recorded - how it did, where that start is not made yet
 */
export function startedOtherwise(
  place: ProblemLocation,
  command: readonly string[],
  recorded?: readonly string[],
): HarvestError {
  return new HarvestError('HARVEST_ESCAPE', {
    what: `Blocked a child process started differently or more often than recorded: ${neutral(command.join(' '))}`,
    where: { ...where(place), ...(recorded !== undefined && { recorded: neutralLine(recorded.join(' '), 300) }) },
    fix: ['if the new behaviour is right: record the run again and promote the new tape'],
  })
}

export function notStarted(tape: Tape, command: readonly string[]): HarvestError {
  return new HarvestError('HARVEST_UNUSED', {
    what: `The agent left out a recorded child process: ${neutral(command.join(' '))}`,
    where: { tape: tape.header.id },
    fix: [
      `to see the recorded steps: npx vitest-harvest show ${shellWord(tape.header.id)}`,
      'if the new behaviour is right: record the run again and promote the new tape',
    ],
  })
}
