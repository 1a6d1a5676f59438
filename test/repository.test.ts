import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { completeLock, type Lock } from '../scripts/complete-lock.ts'

const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
  encoding: 'utf8',
})
  .split('\0')
  .filter((file) => file !== '')

describe('the repository', () => {
  it('has files to check', () => {
    expect(files).toEqual(expect.arrayContaining(['package.json', 'package-lock.json', 'src/errors/index.ts']))
    expect(files.length).toBeGreaterThan(100)
  })

  it.each([
    ['the host of a registry', /\bregistry\.(?:npmjs|yarnpkg|npmmirror)\.|\bnpm\.pkg\.github\.|\/-\/[\w.-]+\.tgz\b/],
    ['a path of somebody’s machine', /(?<![\w.$}])\/(?:work|root|Users\/\w+)\/\w/],
  ])('names nowhere %s', (_, pattern) => {
    const named = files.flatMap((file) => {
      const found = pattern.exec(contentOf(file))
      return found === null ? [] : [`${file}: ${found[0]}`]
    })
    expect(named).toEqual([])
  })
})

describe('the lock', () => {
  const read = () => JSON.parse(readFileSync('package-lock.json', 'utf8')) as Lock

  it('holds the binaries of every platform, so that `npm ci` accepts it on each', () => {
    expect(completeLock(read())).toEqual([])
  })

  it('installs Vitest 5 for us and Vitest 4.1 for its lane', () => {
    const { packages } = read()
    expect(packages['node_modules/vitest']?.version).toMatch(/^5\./)
    expect(packages['lanes/vitest-4/node_modules/vitest']?.version).toMatch(/^4\.1\./)
  })

  it('lost a platform: completing the lock puts its binary back, by version and without an address', () => {
    const lock = read()
    const whole = Object.keys(lock.packages)
    const binary = whole.find((path) => path.endsWith('/@biomejs/cli-darwin-arm64'))!
    delete lock.packages[binary]
    expect(completeLock(lock)).toEqual(['@biomejs/cli-darwin-arm64'])
    expect(Object.keys(lock.packages)).toHaveLength(whole.length)
    expect(Object.entries(lock.packages).find(([path]) => path.endsWith('/@biomejs/cli-darwin-arm64'))?.[1]).toEqual({
      version: '2.6.8',
      dev: true,
      optional: true,
      os: ['darwin'],
      cpu: ['arm64'],
    })
  })
})

function contentOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    // Deleted in the work tree and not yet in the index.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}
