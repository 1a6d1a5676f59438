import { globSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { anchorsOf, installedWith, type LockFile, maxInstalled, relativeLinks } from '../../scripts/package/rules.ts'

const readme = readFileSync('README.md', 'utf8')
const { homepage, repository } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  homepage: string
  repository: { url: string }
}
const project = repository.url.replace(/^git\+|\.git$/g, '')

describe('what is published', () => {
  test('the README has no link that is dead on npm, and at most 150 lines', () => {
    expect(relativeLinks(readme)).toEqual([])
    expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(150)
  })

  test('every page names the repository of package.json, and pages that exist', () => {
    expect(homepage).toBe(`${project}#readme`)
    const links = [...readme.matchAll(/https:\/\/github\.com\/[^)\s]+/g)].map(([link]) => link)
    expect(links.length).toBeGreaterThan(15)
    for (const link of links) {
      expect(link.startsWith(`${project}/blob/main/`), link).toBe(true)
      const [path = '', anchor] = link.slice(`${project}/blob/main/`.length).split('#')
      const page = readFileSync(path, 'utf8')
      if (anchor !== undefined) expect(anchorsOf(page), link).toContain(anchor)
    }
  })

  test('every page of docs/ is in its index', () => {
    const index = readFileSync('docs/index.md', 'utf8')
    const pages = globSync('*.md', { cwd: 'docs' }).filter((page) => page !== 'index.md')
    expect(pages.length).toBeGreaterThan(25)
    expect(pages.filter((page) => !index.includes(`](${page})`))).toEqual([])
  })

  test('at most twenty packages are installed beside Vitest', () => {
    const found = installedWith(JSON.parse(readFileSync('package-lock.json', 'utf8')) as LockFile)
    expect(found).toContain('node_modules/simple-git')
    expect(found.length).toBeLessThanOrEqual(maxInstalled)
  })
})

describe('the rules of the package', () => {
  test('a link in a code block is no link, and an anchor of the page itself is not dead', () => {
    expect(relativeLinks('[a](docs/a.md) [b](https://b.example) [c](#c)\n\n```md\n[d](d.md)\n```\n')).toEqual([
      'docs/a.md',
    ])
  })

  test('a package is counted once for each place it is installed at; optional peers are not', () => {
    const packages: LockFile['packages'] = {
      '': {
        dependencies: { a: '1', b: '1' },
        peerDependencies: { v: '1' },
        peerDependenciesMeta: { v: { optional: true } },
      },
      'node_modules/a': { dependencies: { b: '2', c: '1' } },
      'node_modules/a/node_modules/b': {},
      'node_modules/b': { peerDependencies: { c: '1' } },
      'node_modules/c': {},
      'node_modules/v': {},
    }
    expect(installedWith({ packages })).toEqual([
      'node_modules/a',
      'node_modules/a/node_modules/b',
      'node_modules/b',
      'node_modules/c',
    ])
    expect(() => installedWith({ packages: { '': { dependencies: { gone: '1' } } } })).toThrow('the lock has no gone')
  })
})
