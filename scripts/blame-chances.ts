// node scripts/blame-chances.ts [--blames 64] [--turns 5] [--chances 0.2,0.3,0.4,0.5,0.7] [--command] [--json FILE]: blames runs of a live agent
// whose model decides right with a known chance at one step, and says the same words each time everywhere else. With `--command` by
// `npx vitest-harvest blame`, of the package as it is packed and installed.
import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { blame } from '../src/blame/blame.ts'
import type { BlamedRun } from '../src/blame/run-blame.ts'
import { createRecorder } from '../src/record/index.ts'
import { installReplay } from '../src/replay/index.ts'
import { readTape, type Tape } from '../src/tape/index.ts'
import { mulberry32 } from '../test/recordings/mulberry32.ts'
import { installPacked } from './install-packed.ts'
import { openModel, sumAgent } from './live-sums.ts'

const { values } = parseArgs({
  options: {
    blames: { type: 'string', default: '64' },
    turns: { type: 'string', default: '5' },
    chances: { type: 'string', default: '0.2,0.3,0.4,0.5,0.7' },
    seed: { type: 'string', default: '1' },
    command: { type: 'boolean', default: false },
    json: { type: 'string' },
  },
})
const turns = Number(values.turns)

const dir = mkdtempSync(join(tmpdir(), 'harvest-chances-'))
const model = await openModel()
model.turns = turns
model.say = (messages) => (messages.includes('want\\":9') ? 'The sum is wrong.' : 'The sum is right.')
await installReplay()
const blamed = values.command ? installed(dir) : { dir, blame: byEngine }
const recorder = createRecorder({ dir: blamed.dir, ...(blamed.commit === undefined ? {} : { commit: blamed.commit }) })
const rows: object[] = []
for (const chance of values.chances.split(',').map(Number)) {
  const count = { right: 0, certified: 0, wrong: 0, abstained: 0, forks: 0, most: 0 }
  const wrongs: string[] = []
  for (let number = 0; number < Number(values.blames); number++) {
    const random = mulberry32(Number(values.seed) * 7919 + number * 104_729 + Math.round(chance * 1000))
    // The recorded run decided wrong; where, is drawn.
    const decider = Math.floor(random() * turns)
    model.want = (turn) => (turn === decider ? 9 : 1)
    const input = { url: model.url }
    await recorder.run({ agent: 'sum', input }, () => sumAgent(input))
    const tape: Tape = readTape(recorder.lastTape ?? '')
    model.want = (turn) => (turn === decider && random() >= chance ? 9 : 1)
    const { verdict, spent } = await blamed.blame(tape)
    count.forks += spent.forks
    count.most = Math.max(count.most, spent.forks)
    const right = 2 * decider
    if (verdict?.kind === 'confirmed') {
      const named = verdict.commitments.map(({ position }) => position)
      if (named.length === 1 && named[0] === right) count.certified++
      else wrongs.push(`${number}: named ${named.join()} for ${right} (${verdict.commitments[0]?.how})`)
    } else if (verdict?.kind === 'never') {
      // A chance at the bar of .2 may be called none; above it that is wrong.
      if (chance >= 0.3) wrongs.push(`${number}: never (${verdict.how})`)
      else if (verdict.how === 'exact') wrongs.push(`${number}: never (exact)`)
    } else count.abstained++
  }
  count.wrong = wrongs.length
  const row = {
    chance,
    certified: count.certified,
    wrong: count.wrong,
    abstained: count.abstained,
    'mean forks': Math.round(count.forks / Number(values.blames)),
    'most forks': count.most,
  }
  rows.push(row)
  console.log(JSON.stringify(row), wrongs.slice(0, 6).join('; '))
}
console.table(rows)
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(rows, null, 2)}\n`)
model.close()
rmSync(dir, { recursive: true, force: true })

interface Blamed {
  /** Where the runs are recorded. */
  readonly dir: string
  readonly commit?: string
  blame(tape: Tape): Promise<Pick<BlamedRun, 'verdict' | 'spent'>>
}

/** As the command without --max-runs: dollars alone, more than any of these blames costs. */
function byEngine(tape: Tape): ReturnType<Blamed['blame']> {
  return blame(tape, { agent: sumAgent, ok: ['answer~is right'], tools: 'live', limits: { costUsd: 100 }, parallel: 1 })
}

/** A project with this agent, under git, in which the packed package is installed. */
function installed(folder: string): Blamed {
  const main = join(installPacked(folder), 'dist/cli/main.js')
  const [agent = ''] = readFileSync(join(import.meta.dirname, 'live-sums.ts'), 'utf8').split('/** A model on')
  mkdirSync(join(folder, 'src'))
  writeFileSync(
    join(folder, 'src/sum.ts'),
    agent.replace("'../src/record/index.ts'", "'vitest-harvest/record'").replaceAll(/^import .*'node:.*\n/gm, ''),
  )
  writeFileSync(
    join(folder, 'vitest.config.mjs'),
    "import { harvest } from 'vitest-harvest/plugin'\nexport default { plugins: [harvest({ agents: { sum: './src/sum.ts#sumAgent' } })] }\n",
  )
  writeFileSync(join(folder, '.gitignore'), 'node_modules/\nrecordings/\n*.tgz\n')
  const git = (...args: readonly string[]): string =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], {
      cwd: folder,
      encoding: 'utf8',
    })
  git('init', '--quiet')
  git('add', '-A')
  git('commit', '--quiet', '-m', 'the agent')
  const options = [
    '--ok',
    'answer~is right',
    '--tools',
    'live',
    '--live',
    '--max-cost',
    '100',
    '--parallel',
    '1',
    '--json',
  ]
  return {
    dir: join(folder, 'recordings/inbox'),
    commit: git('rev-parse', 'HEAD').trim(),
    async blame({ header }) {
      const command = promisify(execFile)(process.execPath, [main, 'blame', header.id, ...options], { cwd: folder })
      // Exit code 1: nothing was decided.
      const { stdout } = await command.catch((error: { readonly code: number; readonly stdout: string }) => {
        if (error.code !== 1) throw error
        return error
      })
      return JSON.parse(stdout) as BlamedRun
    },
  }
}
