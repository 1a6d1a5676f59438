/** The folder in which red cases leave their reports, below the root of the project. It is never committed. */
export const reportFolder = '.harvest/report'

/**
 * Where a red case leaves its report, with `/`. A case and its groups have names of plain words; anything else is written as `-`.
 *
 * @param group - with `/`; empty for the golden set itself
 */
export function reportFile(group: string, id: string): string {
  const parts = ['golden', ...group.split('/'), id].filter((part) => part !== '')
  const plain = parts.map((part) =>
    part
      .replaceAll(/[^\w.-]/g, '-')
      .replace(/^[.-]+/, '-')
      .slice(0, 120),
  )
  return `${reportFolder}/${plain.join('/')}.html`
}
