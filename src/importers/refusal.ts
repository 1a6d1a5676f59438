import { HarvestError, neutralLine, shellWord } from '../errors/index.ts'

/** Why a recording is not imported: one code each. */
export type RefusalCode =
  | 'HARVEST_IMPORT_UNKNOWN'
  | 'HARVEST_IMPORT_SYNTAX'
  | 'HARVEST_IMPORT_SHAPE'
  | 'HARVEST_IMPORT_VERSION'
  | 'HARVEST_IMPORT_TAG'
  | 'HARVEST_IMPORT_EMPTY'
  | 'HARVEST_IMPORT_BODY'
  | 'HARVEST_IMPORT_TOO_LARGE'
  | 'HARVEST_IMPORT_TOO_DEEP'
  | 'HARVEST_IMPORT_BOMB'
  | 'HARVEST_IMPORT_SEVERAL'

/** Where in a file something stands. */
export interface TextPosition {
  readonly file: string
  /** 1-based. */
  readonly line?: number
  /** 0-based; where lines mean nothing. */
  readonly byte?: number
  /** Path of the value, such as `interactions[2].response.status`. */
  readonly at?: string
  /** Of a file of no known format: the one it comes nearest to. */
  readonly nearest?: string
}

const why: Partial<Record<RefusalCode, string>> = {
  HARVEST_IMPORT_UNKNOWN: 'The format is detected from the content, and no known recorder writes this.',
  HARVEST_IMPORT_TAG:
    'A tag tells a program to make an object; only tags of text, bytes and plain collections are read.',
  HARVEST_IMPORT_EMPTY: 'A tape of no calls would test nothing.',
  HARVEST_IMPORT_SEVERAL: 'An id and an input belong to one run.',
  HARVEST_IMPORT_BOMB: 'A small file that becomes very large is more likely an attack than a recording.',
}

const fix: Partial<Record<RefusalCode, readonly string[]>> = {
  HARVEST_IMPORT_TOO_LARGE: ['split the recording, or record the run again with vitest-harvest'],
  HARVEST_IMPORT_EMPTY: ['record the run again'],
  HARVEST_IMPORT_SEVERAL: ['leave --as and --input out: each run becomes a tape named after the file and its trace'],
}

/**
 * The error for a recording that cannot be imported.
 *
 * @param problem - one sentence without a trailing dot; may hold text of the file
 */
export function refusal(
  code: RefusalCode,
  { file, line, byte, at, nearest }: TextPosition,
  problem: string,
  options?: { readonly cause?: unknown },
): HarvestError {
  const place = line === undefined ? (byte === undefined ? file : `${file}, byte ${byte}`) : `${file}:${line}`
  const named = nearest === undefined || nearest === 'none' ? 'vcrpy' : nearest
  const byName = `if you know the format, name it: --format ${shellWord(named)}`
  const lines = code === 'HARVEST_IMPORT_UNKNOWN' ? [byName] : fix[code]
  return new HarvestError(
    code,
    {
      what: 'Cannot import the recording',
      where: {
        file: neutralLine(place, 400),
        ...(at === undefined || at === '' ? {} : { at: neutralLine(at) }),
        problem: neutralLine(problem, 200),
        ...(nearest === undefined ? {} : { 'nearest format': nearest }),
      },
      ...(why[code] === undefined ? {} : { why: why[code] }),
      ...(lines === undefined ? {} : { fix: lines }),
    },
    options,
  )
}
