import { neutralLine } from '../errors/index.ts'
import { counted } from '../errors/words.ts'
import type { Review } from './review.ts'

/** A review as a comment on a pull request. Recorded text stands in code, where it can neither link nor mention. */
export function reviewMarkdown({ cases, tapes, findings, configs, acceptedForAll, grownBytes }: Review): string {
  const weak = cases.filter(({ weakened }) => weakened.length > 0)
  const errors = findings.filter(({ level }) => level === 'error')
  const weaker = weak.reduce((sum, { weakened }) => sum + weakened.length, 0)
  const lines: string[] = ['## Recordings', '']
  lines.push(
    `${counted(cases.length, 'case')}, ${counted(tapes.length, 'tape')}, ${grownBytes < 0 ? '-' : '+'}${kilobytes(Math.abs(grownBytes))}. ` +
      `**${weaker === 0 ? 'Nothing is asserted less' : `${counted(weaker, 'assertion')} weaker`}**, ` +
      `${errors.length === 0 ? 'nothing to fix' : `**${errors.length} to fix**`}.`,
    '',
  )
  if (weak.length > 0) {
    lines.push('### Weaker', '', '| Case | Where | What |', '|---|---|---|')
    for (const { id, file, weakened } of weak)
      for (const { field, what, line } of weakened)
        lines.push(
          `| ${code(id)} | ${code(line === undefined ? file : `${file}:${line}`)} | ${code(`${field}: ${what}`)} |`,
        )
    lines.push('')
  }
  if (findings.length > 0) {
    lines.push('### To fix', '')
    for (const { level, file, line, what, detail } of findings)
      lines.push(
        `* ${level === 'warning' ? 'warning: ' : ''}${code(line === undefined ? file : `${file}:${line}`)} ${code([what, ...detail].join('; '))}`,
      )
    lines.push('')
  }
  if (configs.length > 0) lines.push(`Policies of all cases may have changed: ${configs.map(code).join(', ')}`, '')
  for (const { file, accepted } of acceptedForAll)
    lines.push(`Accepted for all cases: ${acceptedText(accepted)} in ${code(file)}`, '')
  for (const { file, change, bytes, digest, sameAs } of tapes) {
    lines.push(`<details><summary>${change} ${html(file)}, ${kilobytes(bytes)}</summary>`, '')
    if (sameAs.length > 0) lines.push(`The same as ${sameAs.map(code).join(', ')}`, '')
    for (const [label, text] of Object.entries(digest ?? {})) lines.push(`* ${label} ${code(text)}`)
    lines.push('', '</details>', '')
  }
  return `${lines.join('\n').trimEnd()}\n`
}

/** `2 changed questions`. */
export function acceptedText(accepted: number | undefined): string {
  return accepted === undefined ? 'an unknown number of changed questions' : counted(accepted, 'changed question')
}

/** Backquotes inside get more of them around. */
function code(text: string): string {
  const line = neutralLine(text, 400).replaceAll('|', '\\|')
  const fence = '`'.repeat(Math.max(0, ...[...line.matchAll(/`+/g)].map(([run]) => run.length)) + 1)
  return fence.length === 1 ? `\`${line}\`` : `${fence} ${line} ${fence}`
}

function html(text: string): string {
  return neutralLine(text, 400).replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}

function kilobytes(bytes: number): string {
  return bytes < 1000 ? counted(bytes, 'byte') : `${(bytes / 1000).toFixed(1)} kB`
}
