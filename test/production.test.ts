import { execFileSync } from 'node:child_process'
import { relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { built } from './support/built.ts'

// Asks a fresh Node what it loads for a door: ESM and CommonJS, static and dynamic.
const ask = `
  const { registerHooks } = require('node:module')
  const loaded = []
  registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
  import(process.argv[1]).then(() => console.log(JSON.stringify(loaded)))
`

function loadedBy(door: string): string[] {
  const urls = JSON.parse(execFileSync(process.execPath, ['-e', ask, built(door)], { encoding: 'utf8' })) as string[]
  return urls.map((url) => (url.startsWith('file:') ? relative(resolve('dist'), fileURLToPath(url)) : url))
}

describe('what production loads for vitest-harvest/record', () => {
  const loaded = loadedBy('record/index.js')
  const ours = loaded.filter((url) => !url.startsWith('node:'))

  it('is only the floor: errors, tape, privacy, seam, record', () => {
    const rooms = new Set(ours.map((file) => (file.includes('/') ? file.split('/')[0] : file)))
    expect([...rooms].sort()).toEqual(['errors', 'privacy', 'record', 'seam', 'tape', 'version.js'])
  })

  it('is no package: no interceptors, no YAML, no git, no Vitest', () => {
    expect(ours.filter((file) => file.includes('node_modules'))).toEqual([])
  })

  it('is this many modules, and a change of the number is a decision', () => {
    expect(ours.length).toBe(69)
  })

  it('nor does vitest-harvest/register load more than the floor', () => {
    const beyond = loadedBy('record/register.js').filter(
      (url) => !url.startsWith('node:') && !/^(errors|tape|privacy|seam|record)\/|^version\.js$/.test(url),
    )
    expect(beyond).toEqual([])
  })
})
