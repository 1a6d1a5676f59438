import { HarvestError, neutralLine, shellWord } from '../../errors/index.ts'
import { program } from '../command.ts'
import { parseNumeral, parseSpan } from '../../report/moments.ts'

/** What `test --prove` was called with. */
export interface ProveWords {
  /** Cases by their ids; none: all. */
  readonly cases: readonly string[]
  readonly recordings: string
  /** US dollars; absent where tokens are limited instead. */
  readonly costUsd?: number
  readonly tokens?: number
  /** No one needs to be asked. */
  readonly isYes: boolean
  readonly isJson: boolean
  /** Names that no run knows are let through. */
  readonly isAnyName: boolean
  readonly parallel: number
  /** Milliseconds one ask may take. */
  readonly timeoutMs: number
}

/** `--budget` is the earlier spelling of `--max-cost`. */
const withValue = ['--max-cost', '--budget', '--max-tokens', '--dir', '--parallel', '--timeout'] as const
const switches = ['--prove', '--yes', '--json', '--any-name'] as const

/** @throws HarvestError `HARVEST_CLI_ARGUMENT` for a flag that is not one of a proof */
export function readProveWords(rest: readonly string[]): ProveWords {
  const values = new Map<string, string>()
  const cases: string[] = []
  for (let at = 0; at < rest.length; at++) {
    const [flag = '', ...tail] = (rest[at] ?? '').split('=')
    if (!flag.startsWith('-')) cases.push(rest[at] ?? '')
    else if (withValue.some((known) => known === flag)) values.set(flag, tail.join('=') || (rest[(at += 1)] ?? ''))
    else if (!switches.some((known) => known === rest[at]))
      throw wrong(`Unknown option with --prove: ${neutralLine(flag, 40)}`, rest.toSpliced(at, 1))
  }
  const budget = number(values, '--max-cost', rest) ?? number(values, '--budget', rest)
  const tokens = number(values, '--max-tokens', rest)
  const costUsd = budget ?? (tokens === undefined ? 1 : undefined)
  return {
    cases,
    recordings: values.get('--dir') ?? 'recordings',
    ...(costUsd === undefined ? {} : { costUsd }),
    ...(tokens === undefined ? {} : { tokens }),
    isYes: rest.includes('--yes'),
    isJson: rest.includes('--json'),
    isAnyName: rest.includes('--any-name'),
    parallel: number(values, '--parallel', rest) ?? 2,
    timeoutMs: duration(values, '--timeout', rest) ?? 120_000,
  }
}

function number(
  values: ReadonlyMap<string, string>,
  flag: keyof typeof examples,
  rest: readonly string[],
): number | undefined {
  const text = values.get(flag)
  if (text === undefined) return undefined
  const typed = parseNumeral(text)
  if (typed !== undefined && typed > 0) return typed
  const right = rest.map((word, at) =>
    word.startsWith(`${flag}=`) ? `${flag}=${examples[flag]}` : rest[at - 1] === flag ? examples[flag] : word,
  )
  throw wrong(`Invalid ${flag}: expected a number above 0, got '${neutralLine(text, 40)}'`, right)
}

const examples = {
  '--max-cost': '1.00',
  '--budget': '1.00',
  '--max-tokens': '100000',
  '--parallel': '2',
  '--timeout': '90s',
}

/** Milliseconds of `90s` or `5m`; a bare number is milliseconds. */
function duration(values: ReadonlyMap<string, string>, flag: '--timeout', rest: readonly string[]): number | undefined {
  const text = values.get(flag)
  const ms = text === undefined ? undefined : parseSpan(text)
  return ms ?? number(values, flag, rest)
}

/** @param right - the words that were typed, without what is wrong */
function wrong(what: string, right: readonly string[]): HarvestError {
  return new HarvestError('HARVEST_CLI_ARGUMENT', {
    what,
    where: { known: [...switches, ...withValue].join(', ') },
    fix: [`did you mean: ${program} test ${right.map(shellWord).join(' ')}`],
  })
}
