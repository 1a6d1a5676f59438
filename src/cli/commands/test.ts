import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HarvestError } from '../../errors/index.ts'
import { type CommandSpec, jsonOption } from '../command.ts'
import type { RunOptions } from '../program.ts'
import type { Screen } from '../screen.ts'
import { proveCases } from '../proving/prove.ts'
import { withoutNetwork } from '../no-network.ts'
import { runVitest } from '../vitest.ts'

const noNetwork = '--no-network'

/** Runs the project's Vitest in a process of its own, with the flags of this package. */
export const testCommand: CommandSpec = {
  name: 'test',
  about:
    'Run Vitest; also understands --update-recordings[=new|questions|all|none], --reason, --tools, --yes and --prove',
  // For the help alone: each is read where it is used, and all else is Vitest's.
  options: [
    { flag: '--update-recordings [mode]', about: 'Accept what changed: all (default), new, questions or none' },
    { flag: '--reason <text>', about: 'Why new behaviour is accepted; goes into the case' },
    {
      flag: '--prove',
      about: 'Ask the models the changed questions of unproven cases, and write what that proves into the cases',
    },
    { flag: '--budget <usd>', about: 'With --prove: what all asks together may cost (default: 1.00)' },
    { flag: '--max-tokens <count>', about: 'With --prove: what all asks together may use' },
    { flag: '--tools <names>', about: 'Run the code of tools: run, serve (default), or names with commas' },
    { flag: '--yes', about: 'Nobody needs to be asked, neither for --prove nor for --tools' },
    { flag: '--no-network', about: 'Run where there is no network (Linux); exit code 2 where the system refuses that' },
    jsonOption,
  ],
  rest: '[vitest arguments]',
  passThrough: true,
  examples: [
    'test',
    `test --update-recordings --reason "refunds need a person now"`,
    'test --tags-filter=golden',
    'test refund-100x --prove --budget 0.50',
    'test refund-100x --reporter=verbose',
  ],
  async run({ rest = [] }, screen) {
    const isShut = rest.includes(noNetwork)
    if (rest.includes('--prove')) {
      if (isShut) throw asksModels()
      return proveCases(rest, screen)
    }
    const before = isShut ? await withoutNetwork() : []
    const words = rest.filter((word) => word !== '--json' && word !== noNetwork)
    return rest.includes('--json') ? reported(words, screen, before) : vitest(words, 'inherit', before)
  },
}

/** The answer of Vitest alone on stdout; whatever else it prints goes to stderr. */
async function reported(words: readonly string[], screen: Screen, before: readonly string[]): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'harvest-test-'))
  const file = join(folder, 'report.json')
  try {
    const code = await vitest([...words, '--reporter=json', `--outputFile.json=${file}`], 'stderr', before)
    if (!existsSync(file)) throw noReport(code)
    screen.json(JSON.parse(readFileSync(file, 'utf8')))
    return code
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function vitest(
  words: readonly string[],
  output: RunOptions['output'],
  before: readonly string[],
): Promise<number> {
  const { code } = await runVitest(words, output, {}, before)
  return code
}

function asksModels(): HarvestError {
  return new HarvestError('HARVEST_CLI_OPTION', {
    what: '--prove and --no-network exclude each other',
    why: 'A proof asks the model.',
    fix: ['to ask the model: npx harvest test --prove', 'to run without a network: npx harvest test --no-network'],
  })
}

function noReport(code: number): HarvestError {
  return new HarvestError('HARVEST_CLI_NO_REPORT', {
    what: 'Vitest ended before it could report',
    where: { vitest: `exit code ${code}` },
    why: 'It refused its arguments or its config; it says on stderr which.',
    fix: ['without --json: npx harvest test'],
  })
}
