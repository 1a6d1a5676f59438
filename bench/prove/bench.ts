import { join } from 'node:path'
import { runInChild } from '../../fixtures/child/index.ts'
import type { Bench } from '../kit/contract.ts'
import { provedAgents } from './agents.ts'
import { barsOf, tablesOf } from './score.ts'
import { models } from './sessions.ts'
import type { Job, Share } from './share.child.ts'

/** Half of each proof is waiting: so many processes keep two cores busy. */
const processes = 3

/** Minutes for the proofs; on a slow machine fewer are made, and their number is said. */
const minutes = Number(process.env['PROVE_MINUTES'] ?? 120)

const bench: Bench = {
  question: 'Does a proof say what its asks show?',
  async run({ isQuick, scratch, progress }) {
    // Of each agent and model, and even: proofs come in pairs.
    const count = isQuick ? 2 : 112
    progress(`${processes * count * models.length * provedAgents.length} proofs of ${provedAgents.length} agents`)
    const shares = await Promise.all(
      Array.from({ length: processes }, async (_, share) => {
        const own = join(scratch, `${share}`)
        const job: Job = {
          scratch: own,
          first: share * count,
          count,
          patienceMs: minutes * 60_000,
          share,
          of: processes,
          isQuick,
        }
        return runInChild<Job, Share>(new URL('./share.child.ts', import.meta.url), job, { patienceMs: 14_400_000 })
      }),
    )
    const total = shares.reduce((sum, { rows }) => sum + rows.length, 0)
    return {
      tables: tablesOf(shares),
      // A few proofs say that everything works, not how often.
      bars: isQuick ? [] : barsOf(shares),
      remarks: [
        `${total} whole proofs, ${Math.round(total / provedAgents.length)} of each agent: the replay, every ask and its control through real forks, over HTTP to a scripted model that is right with a probability, drawn once an ask, and else declines. Fixed seeds; of two proofs one draws the complements of the other.`,
        'What the gate says is summed over all sequences of asks, without simulation.',
        'The models of the last two tables are the worlds of [catch](catch/README.md): right unless the edit makes them wrong.',
      ],
    }
  },
}
export default bench
