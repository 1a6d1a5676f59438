import { existsSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { ExportFormat } from '../../exporters/index.ts'
import type { FoundRun } from '../find.ts'

/** Where exports go: to stdout, all into one file, or a file each in a folder. */
export type Target =
  | { readonly kind: 'stdout' }
  | { readonly kind: 'file'; readonly file: string }
  | { readonly kind: 'folder'; readonly folder: string }

/** What `--out` names: a folder when it is one, or ends as one. */
export function targetOf(out: string | undefined): Target {
  if (out === undefined) return { kind: 'stdout' }
  const isFolder = /[/\\]$/.test(out) || (existsSync(out) && statSync(out).isDirectory())
  return isFolder ? { kind: 'folder', folder: out } : { kind: 'file', file: out }
}

/** The file of an export: named after the file of its tape, for an id is text from elsewhere. */
export function fileIn(folder: string, { file }: FoundRun, format: ExportFormat): string {
  return join(folder, `${basename(file).replace(/\.tape\.jsonl$/, '')}.${endings[format]}`)
}

const endings: Readonly<Record<ExportFormat, string>> = { otlp: 'otlp.jsonl', har: 'har', json: 'trace.json' }
