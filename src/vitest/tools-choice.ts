import { createInterface } from 'node:readline/promises'
import type { Case } from '../cases/index.ts'
import { HarvestError, neutralLine } from '../errors/index.ts'
import type { ToolReach } from '../replay/tools.ts'
import type { ToolsMode, ToolsOptions } from '../match/types.ts'

/** Set by `--tools`: `run`, `serve`, or names with commas between. */
export const toolsVariable = 'VITEST_HARVEST_TOOLS'
/** Set to 1 by `--yes`: the tools of this run may do what they do. */
export const toolsYesVariable = 'VITEST_HARVEST_TOOLS_YES'

/** What a run of Vitest was asked to do about the bodies of tools. */
export interface ToolsChoice {
  /** What `--tools` says. */
  readonly asked?: ToolsMode
  /** Someone said yes to every tool of this run. */
  readonly yes: boolean
}

/**
 * Reads the value of `--tools`.
 *
 * @throws HarvestError `HARVEST_TOOLS_MODE` for an empty name: a typo must not run what was not named
 */
export function parseTools(text: string, where: string): ToolsMode {
  if (text === 'run' || text === 'serve') return text
  const names = text.split(',').map((name) => name.trim())
  if (!names.includes('')) return { run: names }
  throw new HarvestError('HARVEST_TOOLS_MODE', {
    what: 'Unknown value of --tools',
    where: { given: where },
    fix: ['--tools run', '--tools serve', '--tools refund,lookup_order'],
  })
}

/** @throws HarvestError `HARVEST_TOOLS_MODE` */
export function toolsChoice(env: Readonly<Record<string, string | undefined>>): ToolsChoice {
  const asked = env[toolsVariable] ?? ''
  return {
    ...(asked !== '' && { asked: parseTools(asked, `${toolsVariable}=${asked}`) }),
    yes: env[toolsYesVariable] === '1',
  }
}

/**
 * The mode of one case: `--tools serve` goes before everything, then the case, `--tools`, the config. What a case or a
 * flag says never opens a way out: `live` and `mcp` come from the config alone.
 */
export function toolsOf(own: Case['tools'], { asked }: ToolsChoice, config: ToolsMode): ToolsMode {
  if (asked === 'serve') return 'serve'
  const mode = own ?? asked ?? config
  if (mode === 'serve') return 'serve'
  const { live, mcp } = optionsOf(config)
  const { run = [] } = optionsOf(mode)
  return { run, ...(live !== undefined && { live }), ...(mcp !== undefined && { mcp }) }
}

function optionsOf(mode: ToolsMode): ToolsOptions {
  if (typeof mode === 'object') return mode
  return mode === 'run' ? { run: ['*'] } : {}
}

/** The tools that would run and without a yes: names in the config are a yes that was reviewed. */
export function unapproved(reach: readonly ToolReach[], { yes }: ToolsChoice, config: ToolsMode): readonly ToolReach[] {
  const reviewed = new Set(typeof config === 'object' ? config.run : [])
  return yes || reviewed.has('*') ? [] : reach.filter(({ name }) => !reviewed.has(name))
}

const listed = 20

/** One line for each tool: its name, and what its body was seen to do. */
export function reachLines(reach: readonly ToolReach[]): readonly string[] {
  const lines = reach.slice(0, listed).map(({ name, asks }) => {
    const what = asks.length === 0 ? 'asked nothing that was recorded' : asks.map((one) => neutralLine(one)).join(', ')
    return `  ${neutralLine(name)}: ${what}`
  })
  return reach.length > listed ? [...lines, `  … and ${reach.length - listed} more`] : lines
}

const unseen = 'Files, databases and memory that a body changes are not on its tape.'

export function noConsent(kase: string, reach: readonly ToolReach[]): HarvestError {
  return new HarvestError('HARVEST_TOOLS_CONSENT', {
    what: `Refused to run the code of ${reach.length} tool${reach.length === 1 ? '' : 's'}: confirm what they do`,
    where: { case: kase },
    detail: reachLines(reach).join('\n'),
    why: `Requests are answered from the tape, but for origins under tools.live. ${unseen}`,
    fix: [
      `after a review, in vitest.config.ts: tools: { run: [${reach.map(({ name }) => `'${neutralLine(name)}'`).join(', ')}] }`,
      'for this run only: npx vitest-harvest test --tools run --yes',
      'to answer them from the tape: npx vitest-harvest test --tools serve',
    ],
  })
}

/** Asks the person at the terminal, after the list. Anything but yes is a no. */
export async function askConsent(
  reach: readonly ToolReach[],
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
): Promise<boolean> {
  const many = `${reach.length} tool${reach.length === 1 ? '' : 's'}`
  output.write(`The code of ${many} is to run:\n${reachLines(reach).join('\n')}\n${unseen}\n`)
  const terminal = createInterface({ input, output })
  const ended = new Promise<string>((resolve) => terminal.once('close', () => resolve('')))
  try {
    const said = await Promise.race([terminal.question('Run it? [y/N] '), ended])
    return /^y(?:es)?$/i.test(said.trim())
  } finally {
    terminal.close()
  }
}
