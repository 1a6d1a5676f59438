import type { ChildSettings } from '../seam/stdio.ts'
import { basename } from 'node:path'
import type { FoundDrift } from '../match/matcher.ts'
import type { Redactor } from '../privacy/index.ts'
import type { SpawnEvent } from '../tape/index.ts'
import { sameCommand, sameVariable } from './commands.ts'

/**
 * In which folder and with which variables a child is started, where that is not as recorded: what it answered then proves
 * nothing about one that serves another tenant. An older tape does not tell.
 */
export function settingsChanged(
  { command, cwd, env, options = {} }: SpawnEvent,
  live: ChildSettings,
  redactor: Redactor,
  noted: readonly string[],
): readonly FoundDrift[] {
  const of = `process ${nameOf(command)}`
  const found: FoundDrift[] = []
  if (cwd !== undefined && cwd !== live.cwd)
    found.push({ class: 'headers', path: 'cwd', part: `folder of ${of}`, recorded: cwd, live: live.cwd })
  const after = redactor.json(live.options ?? {}) as NonNullable<ChildSettings['options']>
  for (const name of noted) {
    const [was, is] = [options[name], after[name]]
    if (isSameOption(name, was, is)) continue
    found.push({
      class: 'headers',
      path: name,
      part: `${titles[name]} of ${of}`,
      recorded: was ?? '(absent)',
      live: is ?? '(absent)',
    })
  }
  if (env === undefined) return found
  const now = redactor.json(live.env) as ChildSettings['env']
  for (const name of new Set([...Object.keys(env), ...Object.keys(now)])) {
    const [recorded, after] = [env[name], now[name]]
    // The machine has its own: where the tape was made, it may have been the same.
    const isOverridden = recorded === undefined && process.env[name] !== undefined
    const isSame = recorded !== undefined && after !== undefined && sameVariable(recorded, after)
    if (isSame || isOverridden) continue
    const part = `variable ${name} of ${of}`
    found.push({
      class: 'headers',
      path: `env.${name}`,
      part,
      recorded: recorded ?? '(absent)',
      live: after ?? '(absent)',
    })
  }
  return found
}

/** The program and its script; what a command says besides, such as code behind `-e`, is long and no name. */
function nameOf([program = '', script = '-']: SpawnEvent['command']): string {
  return script.startsWith('-') ? basename(program) : `${basename(program)} ${basename(script)}`
}

const titles: Readonly<Record<string, string>> = {
  program: 'program',
  uid: 'user',
  gid: 'group',
  timeout: 'time limit',
}

/** Without a user of its own, a child runs as whoever starts it. */
function isSameOption(name: string, was: string | undefined, is: string | undefined): boolean {
  if (name === 'program' && was !== undefined && is !== undefined)
    return sameCommand({ command: [was] }, { command: [is] })
  const isOwn = (value: string | undefined): boolean => value === undefined || value.endsWith(' (own)')
  return was?.replace(own, '') === is?.replace(own, '') || (isOwn(was) && isOwn(is))
}

const own = / \(own\)$/
