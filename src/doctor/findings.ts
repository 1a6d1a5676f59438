import { dirname } from 'node:path'
import type { FingerprintDifference } from './index.ts'
import type { Examination } from './index.ts'
import { isAddress, isSecretName } from './address.ts'
import type { Reading } from './probe/index.ts'
import { fixOf, type FindingKind } from './fixes.ts'

/** One place that makes runs irreproducible. */
export interface Finding {
  /** `file:line:column`; absent when no line of the user's code is known. */
  readonly site?: string
  /** What was asked there; more than one where a line asks several things. */
  readonly sources: readonly FoundSource[]
  /** Tapes on which it changes the run. */
  readonly tapes: readonly string[]
}

export interface FoundSource {
  readonly kind: FindingKind
  /** As the code says it, such as `process.env.REGION`. */
  readonly name: string
  /** The npm package that asked on behalf of the line. */
  readonly via?: string
  /** What was done to its answer. */
  readonly varied: string
  /** What this changed first. */
  readonly change: FingerprintDifference
  /** Lines to paste, or what to do, best first. */
  readonly fix: readonly string[]
}

/** What was found on one tape. */
export interface Diagnosis {
  /** Id of the tape. */
  readonly tape: string
  readonly examination: Examination
  /** In what the run differs in another process, in another time zone and language. */
  readonly elsewhere?: FingerprintDifference
}

/** Whether part of the run was not looked at: it threw before that or without what it reads, or it changed the process for good. */
export function isUnseen({ examination: { threw, missing, notVaried } }: Diagnosis): boolean {
  return threw !== undefined || missing.length > 0 || notVaried.length > 0
}

/** Kinds of which some answers were tried, while another machine may have any other. */
const endless: ReadonlySet<Reading['kind']> = new Set(['environment', 'path', 'locale', 'another realm'])

/** Whose every answer is another one, so that those that were tried stand for all. */
const passing: ReadonlySet<Reading['kind']> = new Set(['clock', 'random'])

/**
 * Whether it is unknown if a source matters that changed nothing: it can have any text, and not all were tried; or it was not
 * varied at all.
 */
export function isOpen({ kind, ways, isText }: Pick<Reading, 'kind' | 'ways' | 'isText'>): boolean {
  return ways.length === 0 || endless.has(kind) || (isText === true && !passing.has(kind))
}

/** Variables that the user's own code reads, and of which no value that was tried changed anything. Secrets and addresses apart. */
export function openVariables(diagnoses: readonly Diagnosis[]): readonly Reading[] {
  const found = new Set(diagnoses.flatMap(({ examination }) => examination.found.map(({ reading }) => reading.name)))
  const open = diagnoses.flatMap(({ examination }) =>
    examination.harmless.filter(
      (one) =>
        one.kind === 'environment' &&
        one.via === undefined &&
        one.ways.length > 0 &&
        !found.has(one.name) &&
        !isAddress(one.kind, one.name, one.isAddress) &&
        !isSecretName(one.name),
    ),
  )
  return [...new Map(open.map((reading) => [reading.key, reading])).values()]
}

/**
 * The findings of all tapes, one per line of code.
 *
 * @param isVersioned - whether a file is under version control: such a file is code, and as reproducible as code
 */
export function findingsOf(
  diagnoses: readonly Diagnosis[],
  isVersioned: (path: string) => boolean,
): readonly Finding[] {
  const byPlace = new Map<string, { site?: string; sources: FoundSource[]; tapes: Set<string> }>()
  for (const { tape, examination, elsewhere } of diagnoses) {
    const asked = sourcesOf(examination, isVersioned)
    for (const { site, source } of asked.length > 0 ? asked : leftOver(examination, elsewhere)) {
      // The column tells two reads of one line apart, and a fix is made to a line.
      const place = site?.replace(/:\d+$/, '') ?? `${tape} ${source.kind}`
      const known = byPlace.get(place) ?? { ...(site === undefined ? {} : { site }), sources: [], tapes: new Set() }
      const isNew = !known.sources.some(({ kind, name }) => kind === source.kind && name === source.name)
      if (isNew) known.sources.push(source)
      known.tapes.add(tape)
      byPlace.set(place, known)
    }
  }
  return [...byPlace.values()].map((one) => ({ ...one, tapes: [...one.tapes] }))
}

/** Whether the tape has findings already, so that it need not be looked at in another process. */
export function isIll(examination: Examination, isVersioned: (path: string) => boolean): boolean {
  return sourcesOf(examination, isVersioned).length + leftOver(examination, undefined).length > 0
}

interface Placed {
  readonly site?: string
  readonly source: FoundSource
}

function sourcesOf({ found, kept }: Examination, isVersioned: (path: string) => boolean): readonly Placed[] {
  const asked = found
    .filter(({ reading }) => !isCode(reading, isVersioned))
    .map(({ reading, way, change }): Placed => {
      const { kind, name, site, via, path } = reading
      const isOutside = path !== undefined && !isInRepository(path, isVersioned)
      const where = site ?? change.site
      const source = {
        kind,
        name,
        ...(via === undefined ? {} : { via }),
        varied: way,
        change,
        fix: fixOf(kind, name, { ...reading, isOutside }),
      }
      return { ...(where === undefined ? {} : { site: where }), source }
    })
  const left = kept.map(({ name, site, change }): Placed => {
    const source: FoundSource = {
      kind: 'kept state',
      name,
      varied: 'left from the run before',
      change,
      fix: fixOf('kept state', name),
    }
    return { ...(site === undefined ? {} : { site }), source }
  })
  return [...asked, ...left]
}

/** Content of files that are under version control; their times and their order on disk are not. */
export function isCode(
  { kind, path }: { readonly kind: FindingKind; readonly path?: string | undefined },
  isVersioned: (path: string) => boolean,
): boolean {
  return (kind === 'file' || kind === 'directory') && path !== undefined && isVersioned(path)
}

/** Whether git could hold it: what lies in no folder with versioned files lies outside. */
export function isInRepository(path: string, isVersioned: (path: string) => boolean): boolean {
  const above = dirname(path)
  return isVersioned(above) || (above !== path && isInRepository(above, isVersioned))
}

/** What no single source explains, so that it has the line of the request it was seen in. */
function leftOver({ unseen, path }: Examination, elsewhere: FingerprintDifference | undefined): readonly Placed[] {
  const make = (kind: FindingKind, name: string, varied: string, change: FingerprintDifference): Placed => ({
    ...(change.site === undefined ? {} : { site: change.site }),
    source: { kind, name, varied, change, fix: fixOf(kind, name) },
  })
  if (unseen) return [make('unseen', 'a source that doctor cannot see', 'replayed once more', unseen)]
  if (path) {
    const { label: what, text } = path
    const change = {
      what,
      path: '',
      before: excerptOf(text),
      after: '',
      ...(path.site === undefined ? {} : { site: path.site }),
    }
    return [make('path', 'a folder of this machine', 'nothing', change)]
  }
  return elsewhere ? [make('time zone or locale', 'the process', 'another process, zone and language', elsewhere)] : []
}

function excerptOf(text: string): string {
  const at = Math.max(0, text.indexOf(process.cwd()) - 20)
  return `${at > 0 ? '…' : ''}${text.slice(at, at + 140)}${text.length > at + 140 ? '…' : ''}`
}
