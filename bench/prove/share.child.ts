// A share of the proofs, in a process of its own.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { answerParent } from '../../fixtures/child/answer.ts'
import { subjects } from '../catch/agents/index.ts'
import { provedAgents } from './agents.ts'
import { type Desk, openDesk } from './desk.ts'
import { proveEdits, wronglyCalled } from './edits.ts'
import { makeReady, models, proveOnce, type Ready, type Session } from './sessions.ts'
import { stopAndGoOn, type Stopped } from './stops.ts'

/** Which share: of the proofs of each agent and model, those from number `first` on; all else of one agent in `of`. */
export interface Job {
  /** A folder of this process alone, outside of every repository. */
  readonly scratch: string
  readonly first: number
  readonly count: number
  /** Milliseconds after which no further ones begin. */
  readonly patienceMs: number
  readonly share: number
  readonly of: number
  readonly isQuick: boolean
}

/** One proof. */
export interface Row extends Session {
  readonly agent: string
  /** Its place in the list of models. */
  readonly model: number
}

/** What became of the unproven edits of one agent. */
export interface EditsRow {
  readonly agent: string
  readonly harmless: number
  readonly regressions: number
  readonly wrong: readonly string[]
}

/** Proofs with less than they need. */
export interface BudgetRow {
  readonly agent: string
  readonly proofs: number
  /** Those that used more than they may. */
  readonly passed: number
}

export interface Share {
  readonly rows: readonly Row[]
  readonly edits: readonly EditsRow[]
  readonly budgets: readonly BudgetRow[]
  readonly stops: readonly { readonly agent: string; readonly stopped: readonly Stopped[] }[]
}

answerParent<Job, Share>(async (job) => {
  for (const name of ['log', 'info', 'debug'] as const) console[name] = () => undefined
  const base = mkdtempSync(resolve(import.meta.dirname, '../../.prove-'))
  try {
    await using desk = await openDesk(base)
    // No git here: nobody can say that the code is the same, so each proof begins anew and writes no log.
    mkdirSync(job.scratch, { recursive: true })
    process.chdir(job.scratch)
    const ready: Ready[] = []
    for (const agent of provedAgents) ready.push(await makeReady(desk, agent))
    const mine = ready.filter((_, at) => at % job.of === job.share)
    const rows = await rowsOf(desk, ready, job)
    const budgets: BudgetRow[] = []
    for (const each of mine) budgets.push(await budgetsOf(desk, each, job.isQuick ? 4 : 40))
    const edits: EditsRow[] = []
    for (const [at, subject] of subjects.entries()) {
      if (at % job.of !== job.share || (job.isQuick && at % 3 > 0)) continue
      const proved = await proveEdits(desk, await desk.record(subject))
      const regressions = proved.filter(({ edit }) => edit.isRegression).length
      const wrong = wronglyCalled(subject, proved)
      edits.push({ agent: subject.name, regressions, harmless: proved.length - regressions, wrong })
    }
    const repository = join(job.scratch, 'repository')
    mkdirSync(repository)
    process.chdir(repository)
    const git = (...args: string[]) => execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args])
    git('init', '--quiet')
    git('commit', '--quiet', '--allow-empty', '-m', 'empty')
    const stops: { agent: string; stopped: readonly Stopped[] }[] = []
    for (const each of mine) {
      const folder = join(job.scratch, 'proofs', each.name)
      stops.push({ agent: each.name, stopped: await stopAndGoOn(desk, each, folder, job.isQuick ? 5 : 51) })
    }
    return { rows, edits, budgets, stops }
  } finally {
    rmSync(base, { recursive: true, force: true })
  }
})

/** Two proofs of each agent with each model, then the next two, as long as there is time. */
async function rowsOf(desk: Desk, ready: readonly Ready[], job: Job): Promise<readonly Row[]> {
  const begin = performance.now()
  const rows: Row[] = []
  for (let index = job.first; index < job.first + job.count; index += 2) {
    if (performance.now() - begin > job.patienceMs) break
    for (const [at, agent] of ready.entries())
      for (const [model, rates] of models.entries()) {
        // Other numbers for each agent and model.
        const number = 1_000_000 * at + 100_000 * model + index
        for (const each of [number, number + 1])
          rows.push({ agent: agent.name, model, ...(await proveOnce(desk, agent, rates, each)) })
      }
  }
  return rows
}

/** Proofs with a share of what a whole one uses, from almost nothing to almost all. */
async function budgetsOf(desk: Desk, { name, of, agent, keys }: Ready, proofs: number): Promise<BudgetRow> {
  const whole = await desk.prove(of, agent, keys)
  let passed = 0
  for (let at = 0; at < proofs; at++) {
    const tokens = Math.round((whole.used.tokens * 2 * (at + 0.5)) / proofs)
    const { used } = await desk.prove(of, agent, keys, { limits: { tokens } })
    if (used.tokens > tokens) passed++
  }
  return { agent: name, proofs, passed }
}
