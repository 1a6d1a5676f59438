import { relative } from 'node:path'

/** The folder in which red cases leave their reports, below the root of the project. It is never committed. */
export const reportFolder = '.harvest/report'

/**
 * Where a red case leaves its report, with `/` and below the root of its project: `.harvest/report/golden/refund-100x.html`.
 *
 * @param recordings - absolute
 * @param caseFile - absolute; all that is no plain word in its name is written as `-`
 */
export function reportFile(recordings: string, caseFile: string): string {
  const parts = relative(recordings, caseFile)
    .replace(/\.case\.ya?ml$/, '')
    .split(/[/\\]/)
  const plain = parts.map((part) =>
    part
      .replaceAll(/[^\w.-]/g, '-')
      .replace(/^[.-]+/, '-')
      .slice(0, 120),
  )
  return `${reportFolder}/${plain.join('/')}.html`
}
