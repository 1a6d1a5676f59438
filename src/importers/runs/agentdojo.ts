import type { ForeignFormat } from '../document.ts'
import { conversationSteps } from './conversation.ts'
import { outcome } from './marks.ts'
import { known } from './values.ts'

/**
 * AgentDojo: a run of a task, clean or with injections. `security` says whether the attack succeeded, in an attacked run.
 *
 * @see https://github.com/ethz-spylab/agentdojo, src/agentdojo/logging.py
 */
export const agentDojo: ForeignFormat = {
  name: 'agentdojo',
  recognises: ({ root }) =>
    root.at('suite_name').isThere && root.at('user_task_id').isThere && root.at('messages').isThere,
  read({ root }) {
    const [suite, model, task, attack, injection] = [
      'suite_name',
      'pipeline_name',
      'user_task_id',
      'attack_type',
      'injection_task_id',
    ].map((key) => root.at(key).maybeText)
    return {
      format: 'agentdojo',
      name: [suite, task, injection ?? 'clean', model].filter((part) => part !== undefined).join('-'),
      exchanges: [],
      steps: [
        ...conversationSteps(root.at('messages').items),
        ...outcome({
          ...known({ utility: root.at('utility'), security: root.at('security'), error: root.at('error') }),
          ...(attack === undefined ? {} : { attack }),
        }),
      ],
    }
  },
}
