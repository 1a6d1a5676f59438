// Replays agents that keep their data in databases of this process, which no tape holds.
import { answerParent } from '../../fixtures/child/answer.ts'
import { installReplay, replayTape } from '../../src/replay/index.ts'
import { confine } from '../../src/seam/intercept/index.ts'
import { readTape } from '../../src/tape/index.ts'

export interface DatabaseReport {
  readonly name: string
  readonly value: unknown
  readonly problems: readonly string[]
  readonly listed: number
}

const agents: Readonly<Record<string, () => Promise<unknown>>> = {
  'node:sqlite': async () => {
    const { DatabaseSync } = await import('node:sqlite')
    const database = new DatabaseSync(':memory:')
    database.exec('create table t(a); insert into t values (41)')
    return database.prepare('select a + 1 as answer from t').get()?.['answer']
  },
  PGlite: async () => {
    const { PGlite } = await import('@electric-sql/pglite')
    const database = await PGlite.create()
    await database.exec('create table t(a int); insert into t values (41)')
    const { rows } = await database.query<{ answer: number }>('select a + 1 as answer from t')
    return rows[0]?.answer
  },
}

answerParent(async ({ tape }: { readonly tape: string }): Promise<readonly DatabaseReport[]> => {
  await installReplay()
  if (!confine('strict')) throw new Error('this process is not confined')
  const all: DatabaseReport[] = []
  for (const [name, agent] of Object.entries(agents)) {
    const { outcome, problems, listed } = await replayTape(readTape(tape), agent)
    const value = outcome.status === 'returned' ? outcome.value : String(outcome.error)
    all.push({ name, value, problems: problems.map(({ message }) => message), listed: listed.length })
  }
  return all
})
