import { globSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { anchorsOf } from '../../scripts/package/rules.ts'

const base = 'https://github.com/vitest-harvest/vitest-harvest/blob/main/docs/'
const pages = globSync('*.md', { cwd: 'docs' }).sort()

/** Links of a page to pages of docs/, with their anchors; those in code blocks are none. */
function linksOf(path: string): readonly string[] {
  return linksIn(readFileSync(path, 'utf8'))
}

function linksIn(markdown: string): readonly string[] {
  const text = markdown.replaceAll(/^```[^]*?^```/gm, '')
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = '']) => {
    const local = link.replace(base, '')
    return /^[\w-]+\.md(#|$)/.test(local) ? [local] : []
  })
}

describe('the pages', () => {
  test('link to pages and headings that exist', () => {
    const dead = pages.flatMap((page) =>
      linksOf(`docs/${page}`).filter((link) => {
        const [path = '', anchor] = link.split('#')
        return (
          !pages.includes(path) ||
          (anchor !== undefined && !anchorsOf(readFileSync(`docs/${path}`, 'utf8')).includes(anchor))
        )
      }),
    )
    expect(dead).toEqual([])
  })

  test('all end with a link to another one', () => {
    const ends = pages.filter((page) => {
      const last = readFileSync(`docs/${page}`, 'utf8').trimEnd().split('\n\n').at(-1) ?? ''
      return linksIn(last).every((link) => link.split('#')[0] === page)
    })
    expect(ends).toEqual([])
  })

  test.for([
    ['an incident', 'incident.md'],
    ['a changed prompt', 'prompt-change.md'],
    ['another model', 'model-upgrade.md'],
    ['a pull request', 'review.md'],
    ['weekly care', 'weekly-care.md'],
    ['erasure', 'erasure.md'],
    ['the ideas', 'concepts.md'],
    ['a word', 'glossary.md'],
    ['something is red', 'troubleshooting.md'],
    ['a question', 'faq.md'],
    ['moving from another recorder', 'migrating.md'],
    ['choosing a tool', 'comparison.md'],
    ['what it costs', 'cost.md'],
  ])('%s is two clicks from the README', ([, target]) => {
    const first = linksOf('README.md')
    const second = first.flatMap((link) => linksOf(`docs/${link.split('#')[0]}`))
    expect([...first, ...second]).toContain(target)
  })
})
