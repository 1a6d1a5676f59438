import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { rightWith } from './chance.ts'
import type { Desk } from './desk.ts'
import type { Ready } from './sessions.ts'

/** A proof that was stopped, and what became of it when it was made again. */
export interface Stopped {
  /** Bytes of its log that were on disk. */
  readonly bytes: number
  /** What is wrong with how it went on; absent: nothing. */
  readonly wrong?: string
}

/**
 * Makes one proof, then takes its log as a process leaves it that is killed at some place, also inside a line, and makes
 * the proof again with that log. It must ask only what is not answered yet, and count what was under way as spent.
 *
 * @param places - how many places, spread over the log
 */
export async function stopAndGoOn(
  desk: Desk,
  ready: Ready,
  folder: string,
  places: number,
): Promise<readonly Stopped[]> {
  const { of, agent, keys } = ready
  const always = { changed: 1, recorded: 1 }
  const whole = join(folder, 'whole')
  const first = await desk.prove(of, agent, keys, { mind: rightWith(of, always, 1).mind, folder: whole })
  const [file = ''] = globSync(join(whole, '*.jsonl'))
  const log = readFileSync(file)
  const stopped: Stopped[] = []
  for (let place = 0; place < places; place++) {
    // Odd and even places, so that ends of lines and middles of lines are among them.
    const bytes = Math.floor((log.length * (place + 0.5)) / places)
    const left = log.subarray(0, bytes)
    const lines = left.toString('utf8').split('\n').slice(0, -1)
    const ended = lines.filter((line) => line.startsWith('{"ended"')).length
    const open = lines.filter((line) => line.startsWith('{"began"')).length - ended
    const again = join(folder, `${place}`)
    mkdirSync(again, { recursive: true })
    writeFileSync(join(again, basename(file)), left)
    const { mind, drawn } = rightWith(of, always, 1)
    const { decision, asks, control, used } = await desk.prove(of, agent, keys, { mind, folder: again })
    const fresh = drawn.changed.length + drawn.recorded.length
    const all = asks.good + control.good
    const wrong = [
      decision === first.decision ? [] : [`it ended as ${decision}`],
      fresh === all - ended ? [] : [`${fresh} asks, and ${all - ended} were missing`],
      open === 0 || used.tokens > first.used.tokens ? [] : ['what was under way is not counted as spent'],
    ].flat()
    stopped.push({ bytes, ...(wrong.length === 0 ? {} : { wrong: wrong.join('; ') }) })
  }
  return stopped
}
