// Asks what all runs ask, in one process per recorder and mode.
import { answerParent } from '../../fixtures/child/answer.ts'
import { type Replayed, toolNamed, type ToolName } from '../peers/tool.ts'
import type { Bases, Got } from './ask.ts'
import { sessionOf } from './session.ts'

export interface Job {
  readonly tool: ToolName
  readonly mode: 'record' | 'replay'
  readonly dir: string
  readonly bases: Bases
  readonly seed: number
  readonly sessions: number
  readonly size: number
}

/** Per run what its requests got, and what the recorder had to report. */
export type Driven = readonly DrivenRun[]

export interface DrivenRun {
  /** Of each pair: when recording the recorded request, when replaying the other one. */
  readonly got: readonly Got[]
  /** When replaying: what the recorded request got, asked right after the other one where a tape can tell them apart. */
  readonly afterwards: readonly Got[]
  readonly reported: Replayed<unknown>['reported']
}

answerParent(async (job: Job): Promise<Driven> => {
  const { dir, bases, mode, seed, sessions, size } = job
  const tool = await toolNamed(job.tool)
  if (mode === 'replay') await tool.install()
  const { ask } = await import('./ask.ts')
  const driven: DrivenRun[] = []
  for (let number = 0; number < sessions; number++) {
    const { input, pairs } = sessionOf(seed, number, size)
    const options = { dir, name: `run-${number}`, upstream: bases.first, input }
    const got: Got[] = []
    const afterwards: Got[] = []
    if (mode === 'record') {
      await tool.record(options, async (first) => {
        for (const { recorded } of pairs) got.push(await ask(recorded, { ...bases, first }))
      })
      driven.push({ got, afterwards, reported: [] })
      continue
    }
    const { outcome, reported } = await tool.replay(options, async (first) => {
      for (const pair of pairs) {
        const now = await ask(pair.asked, { ...bases, first })
        got.push(now)
        // So that no recorded request is left out, which would be a difference of its own. Where only what no tape may keep
        // tells the two apart, and the other one was answered, it would be the second of its kind: it is not asked.
        const isTold = pair.mutation.differs !== 'not kept' || 'refused' in now
        afterwards.push(isTold ? await ask(pair.recorded, { ...bases, first }) : { refused: 'not asked' })
      }
    })
    if ('error' in outcome) throw new Error(`run ${number} did not come to its end: ${outcome.error}`)
    driven.push({ got, afterwards, reported })
  }
  return driven
})
