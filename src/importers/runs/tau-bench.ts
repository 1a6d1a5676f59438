import type { Cursor } from '../cursor.ts'
import { firstItem, type ForeignFormat, itemsAt, listed } from '../document.ts'
import type { ForeignRecording } from '../types.ts'
import { conversationSteps } from './conversation.ts'
import { outcome } from './marks.ts'
import { usageIn } from '../usage.ts'
import { known, timeOf } from './values.ts'

/**
 * τ-bench: a list of trials, or one.
 *
 * @see https://github.com/sierra-research/tau-bench, tau_bench/types.py
 */
export const tauBench: ForeignFormat = {
  name: 'tau-bench',
  recognises: (document) => isTrial(firstItem(document) ?? document.root),
  read: (document) => (document.root.isMap ? trialOf(document.root) : listed(itemsAt(document), trialOf)),
}

function isTrial(trial: Cursor): boolean {
  return Array.isArray(trial.at('traj').value) && trial.at('task_id').isThere
}

function trialOf(trial: Cursor): ForeignRecording {
  return {
    format: 'tau-bench',
    name: nameOf(trial),
    exchanges: [],
    steps: [
      ...conversationSteps(trial.at('traj').items),
      ...outcome(known({ reward: trial.at('reward'), info: trial.at('info').at('reward_info') })),
    ],
  }
}

function nameOf(run: Cursor): string {
  const trial = run.at('trial')
  return `task-${String(run.at('task_id').value)}${trial.isThere ? `-trial-${String(trial.value)}` : ''}`
}

/**
 * τ²-bench: simulations, whose users may call tools as well.
 *
 * @see https://github.com/sierra-research/tau2-bench, src/tau2/data_model/simulation.py
 */
export const tau2Bench: ForeignFormat = {
  name: 'tau2-bench',
  recognises: ({ root }) => {
    const list = root.at('simulations')
    return (
      (Array.isArray(list.value) && (list.items[0] === undefined || isSimulation(list.items[0]))) || isSimulation(root)
    )
  },
  read: (document) =>
    isSimulation(document.root) ? simulationOf(document.root) : listed(itemsAt(document, 'simulations'), simulationOf),
}

function isSimulation(run: Cursor): boolean {
  return (
    run.at('task_id').isThere &&
    Array.isArray(run.at('messages').value) &&
    (run.at('termination_reason').isThere || run.at('reward_info').isThere)
  )
}

function simulationOf(run: Cursor): ForeignRecording {
  const messages = run.at('messages').items.flatMap((message) => {
    const inner = message.at('tool_messages')
    return Array.isArray(inner.value) ? inner.items : [message]
  })
  const steps = conversationSteps(messages, (message) => {
    const at = timeOf(message.at('timestamp'))
    return { ...(at === undefined ? {} : { at }), model: usageIn(message.at('usage').value) }
  })
  const startedMs = timeOf(run.at('start_time'))
  const reward = run.at('reward_info')
  return {
    format: 'tau2-bench',
    name: nameOf(run),
    exchanges: [],
    steps: [
      ...steps,
      ...outcome(known({ reward: reward.at('reward'), ended: run.at('termination_reason'), info: reward })),
    ],
    ...(startedMs === undefined ? {} : { startedMs }),
  }
}
