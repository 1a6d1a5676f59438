import { HarvestError } from '../errors/index.ts'
import { checkOption, isNumber, oneOf, type OptionRule, type OptionsOf } from '../errors/options.ts'
import type { OwnAgentOptions, OwnAgentReport } from '../validation/harness/own-agent.ts'
import { readTape, type Tape } from '../tape/index.ts'
import { requireClosed } from '../tape/closed.ts'
import { tapePlace } from './tape-place.ts'
import { untilAwaited } from './under-way.ts'

export interface ValidateBlameOptions extends OwnAgentOptions {
  /** A run of the agent that went well: its tape, or the path of one, from the root of the project or else the folder Vitest runs in. */
  readonly tape: string | Tape
  /** Least share of the failed runs in which blame has to name the planted step. Default 0.8. */
  readonly least?: number
  /**
   * `throw` (default): a wrong name, or fewer right ones than `least`, is an error with the table. `collect`: the report
   * says it all, and the test has to look.
   */
  readonly problems?: 'throw' | 'collect'
}

/**
 * Looks in a test whether blame is to be trusted on an agent of one's own: plants faults at known steps of a run that
 * went well, and blames the runs that failed by them.
 *
 * ```ts
 * test('blame finds what is planted in the refund agent', async () => {
 *   const report = await validateBlame({ agent, tape: 'recordings/golden/refund/refund-100x.tape.jsonl', oracle })
 *   expect(report.wrong).toBe(0)
 * })
 * ```
 *
 * @throws HarvestError `HARVEST_VALIDATE_OWN_AGENT` unless `problems: 'collect'`, and those of the planting
 */
export function validateBlame(options: ValidateBlameOptions): Promise<OwnAgentReport> {
  return untilAwaited('validateBlame()', () => validate(options))
}

async function validate(options: ValidateBlameOptions): Promise<OwnAgentReport> {
  const { tape, least = 0.8, problems = 'throw', ...own } = options
  checkOption(validateOptions, 'problems', problems, oneOf(['throw', 'collect']))
  checkOption(validateOptions, 'least', least, share)
  // Only tests that plant faults load what draws them.
  const { validateOwnAgent } = await import('../validation/harness/own-agent.ts')
  const report = await validateOwnAgent(requireClosed(typeof tape === 'string' ? readTape(tapePlace(tape)) : tape), own)
  const failed = report.right + report.wrong + report.abstained
  if (problems === 'throw' && (report.wrong > 0 || report.right < least * failed)) throw notTrusted(report, least)
  return report
}

function notTrusted({ right, wrong, abstained, table }: OwnAgentReport, least: number): HarvestError {
  return new HarvestError('HARVEST_VALIDATE_OWN_AGENT', {
    what: 'Blame misses faults injected into the runs of this agent',
    where: {
      right: `${right} of ${right + wrong + abstained} failed runs, at least ${least * 100} % expected`,
      wrong: `${wrong}`,
      abstained: `${abstained}`,
    },
    detail: table,
    why: 'A self-correcting agent, or a model that errs by chance, spreads the cause over several steps.',
    fix: ['more forks per run: forks: 400', "to see the report anyway: validateBlame({ …, problems: 'collect' })"],
  })
}

const validateOptions: OptionsOf = { owner: 'validateBlame', code: 'HARVEST_REPLAY_OPTION' }
const share: OptionRule = {
  expected: 'a share from 0 to 1',
  fits: (value) => isNumber(value) && value >= 0 && value <= 1,
}
