/** A fenced block of a page. */
const fence = /^```(.*)\n([\s\S]*?)^```$/gm

/**
 * What a page says: the sentences of its paragraphs and lists, and each row of its tables. Headings and blocks of code
 * say nothing by themselves.
 */
export function sentencesOf(page: string): readonly string[] {
  const parts = page
    .replace(fence, '')
    .replace(/^#.*$/gm, '')
    // The head of a table names its columns.
    .replace(/^\|.*\n\|[\s:|-]+\n/gm, '\n')
    .replace(/^(?=\||\* )/gm, '\n')
    .split(/\n\s*\n/)
    .map((part) => part.trim().replace(/\s*\n\s*/g, ' '))
  return parts.flatMap((part) => {
    if (part === '' || part.startsWith('|')) return part === '' ? [] : [part]
    // A bold lead belongs to the sentence behind it.
    return part.replace(/^\* /, '').split(/(?<=[.!?]\)?) +(?=[A-Z`*[(])/)
  })
}

/** The blocks of a page that are run word for word. */
export function blocksRun(page: string): readonly string[] {
  return [...page.matchAll(fence)].flatMap(([, info = '', text = '']) => (/\bno-run\b/.test(info) ? [] : [text]))
}

/** The titles of the tests and groups that a test file makes, as they are written there. */
export function titlesOf(source: string): ReadonlySet<string> {
  const title = /(?:\b(?:it|test|describe)(?:\.\w+)*|\))\(\s*(['"`])((?:\\.|(?!\1)[\s\S])*?)\1\s*,/g
  return new Set([...source.matchAll(title)].map(([, , text = '']) => text))
}
