import { HarvestError, neutralLine } from '../errors/index.ts'
import { isCutOff } from '../playback/allow.ts'
import type { Json, Tape } from '../tape/index.ts'

/** Who answers behind a fork. */
export type AnswersFrom = 'live' | 'tape' | 'reference' | 'script'

const whys: Readonly<Record<AnswersFrom, string>> = {
  live: 'Its model, or its code, decided otherwise than when this run was recorded, and only models are asked for real.',
  tape: 'The run is another one from the fork on, and what it asks now was never recorded.',
  reference: 'The run is another one from the fork on, and the tape that answers it was never asked this.',
  script: 'The script that answers this run said nothing to it.',
}

/**
 * The refusal of something that a live run asks for and the tape has no answer to.
 *
 * @param instead - how it differs from the recorded question that comes nearest, a line for each part
 * @param isTool - whether it is a function that the agent wrapped: such a one can run for real
 */
export function offTape(
  tape: Tape,
  what: string,
  site: string | undefined,
  tail: AnswersFrom = 'live',
  instead: readonly string[] = [],
  isTool = false,
): HarvestError {
  return new HarvestError('HARVEST_NOT_RECORDED', {
    what: 'The agent requested something that is not on the tape',
    where: {
      tape: tape.header.id,
      asked: neutralLine(what, longestAsked),
      ...(site === undefined ? {} : { at: site }),
    },
    ...(instead.length === 0 ? {} : { detail: instead.map((line) => `  ${line}`).join('\n') }),
    why: whys[tail],
    fix: isTool
      ? [
          'if the call is right, record a run that makes it',
          'to call the tool for real: wrap it with { replay: "run" }',
        ]
      : ['if the call is right, record a run that makes it'],
  })
}

/** A call, as its refusal names it. */
export function calledText({ name, args }: { readonly name: string; readonly args: Json }): string {
  return `${name}(${JSON.stringify(args)})`
}

/** What a refusal says was asked for. */
export function refusedIn(message: string): string | undefined {
  return /^[ \t]*asked\s+(.+)$/m.exec(message)?.[1]
}

/** Whether a refusal says that this was asked for. */
export function isRefused(what: string, message: string): boolean {
  return refusedIn(message) === neutralLine(what, longestAsked)
}

const longestAsked = 200

const blocked = 'Blocked real I/O that harvest() does not allow'

/**
 * The refusal of I/O that no recorder sees, such as the socket of a database client, in a run whose models are asked for real:
 * no tape has an answer to it.
 *
 * @param areToolsReal - tools run for real as well
 */
export function blockedLive(
  tape: Tape,
  { kind, target, site }: { readonly kind: string; readonly target: string; readonly site: string | undefined },
  areToolsReal: boolean,
): HarvestError {
  const reached = `${kind} ${target}`
  return new HarvestError('HARVEST_NOT_RECORDED', {
    what: blocked,
    where: {
      tape: tape.header.id,
      asked: neutralLine(reached, 200),
      ...(site === undefined ? {} : { at: site }),
    },
    why: areToolsReal
      ? 'Tools run for real, but what no recorder sees has to be allowed first.'
      : 'Only models are asked for real, and no recorder sees this, so the tape has no answer.',
    fix: [toAllow(reached)],
  })
}

/**
 * Refuses runs whose tools run for real before their models are paid, where the recorded run reached a socket and the config
 * allows none: each of them would be refused it. Where it allows one, today's tools may reach that instead.
 *
 * @throws HarvestError `HARVEST_ESCAPE_CONSENT`
 */
export function requireAllowed({ header, close }: Pick<Tape, 'close' | 'header'>, allow: readonly string[] = []): void {
  const reached = (close?.unrecorded ?? []).filter((one) => one.startsWith('socket '))
  if (reached.length === 0 || allow.some((pattern) => /^(?:\*|socket )/.test(pattern))) return
  throw new HarvestError('HARVEST_ESCAPE_CONSENT', {
    what: 'The recorded run reached a socket that harvest() does not allow',
    where: { tape: header.id, reached: neutralLine(reached.join(', '), 200) },
    why: 'Tools run for real here, and each run would be refused it after its models were paid.',
    fix: reached.map(toAllow),
  })
}

/** @param reached - kind and target, as `allow` takes them */
export function toAllow(reached: string): string {
  const [kind = '', ...target] = reached.split(' ')
  if (isCutOff(kind, target.join(' '))) return 'if runs may reach it: the same command, without --no-network'
  return `if runs may reach it, in harvest() of the Vitest config: allow: ['${neutralLine(reached, 200)}']`
}

/** Kind and target of what such a run may not reach, by why it has no grade or by what was said of it; `undefined`: not that. */
export function blockedIn(because: string): string | undefined {
  if (!because.includes(blocked)) return undefined
  const end = ' (HARVEST_NOT_RECORDED)'
  const said = because.endsWith(end) ? because.slice(because.lastIndexOf('\n') + 1, -end.length) : ''
  return /: (\S+ .+)$/.exec(said)?.[1] ?? refusedIn(because)
}
