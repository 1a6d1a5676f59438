// Loads packages as the module runner of Vitest does for cases: natively, and once in the process.
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import { createRequire } from 'node:module'
import path from 'node:path'
import { answerParent } from '../../fixtures/child/answer.ts'
import { guardLoading, replayTape } from '../../src/replay/index.ts'
import { tapeOf } from '../replay/tapes.ts'

const url = 'https://shop.test/status'
const heard: string[] = []
const ran: string[] = []
Object.assign(globalThis, { heard, ran })

const wrap = (name: string) => `{
  const before = globalThis.fetch
  globalThis.fetch = async (...args) => (heard.push('${name}'), before(...args))
}`

/** What lay over `fetch` and `node:http` and was asked, by what an agent imports: one after the other. */
answerParent(async (folder: string): Promise<Readonly<Record<string, string>>> => {
  const sources = {
    inner: `${wrap('inner')}\nexport { part } from '../helper/index.mjs'`,
    outer: wrap('outer'),
    through: "import '../inner/index.mjs'",
    helper: 'export const part = 1',
    // As packages do that define the property through another one.
    definer: `export const helper = (name, work) => Object.defineProperty(globalThis, name, { value: work, configurable: true, writable: true })`,
    defines: `import { helper } from '../definer/index.mjs'
      const before = globalThis.fetch
      helper('fetch', async (...args) => (heard.push('defines'), before(...args)))`,
    keeps: 'const kept = globalThis.fetch\nexport const get = (url) => kept(url)',
    http: `import http from 'node:http'
      const before = http.get
      http.get = (...args) => (heard.push('http'), before(...args))`,
    common: wrap('common'),
    'imported-common': `require('../part-common/index.cjs')\n${wrap('imported-common')}`,
    'part-common': '',
    part: '',
    'throws-common': `${wrap('throws-common')}\nthrow new Error('no')`,
    throws: `${wrap('throws')}\nthrow new Error('no')`,
    required: `import '../part/index.mjs'\n${wrap('required')}`,
    later: `await new Promise((resolve) => setImmediate(resolve))\n${wrap('later')} // as it ends`,
    cycle: `import '../back/index.mjs'\n${wrap('cycle')}`,
    back: `import '../cycle/index.mjs'`,
    'looked-up': wrap('looked-up'),
    'looked-up-common': wrap('looked-up-common'),
    lazy: wrap('lazy'),
    'lazy-common': wrap('lazy-common'),
    'lazy-part': `${wrap('lazy-part')}\nexport { piece } from '../piece/index.mjs'`,
    piece: 'export const piece = 1',
    kept: wrap('kept'),
  }
  const file = (name: string) =>
    path.join(folder, `node_modules/${name}/index.${name.endsWith('common') ? 'cjs' : 'mjs'}`)
  const data = path.join(folder, 'data.json')
  writeFileSync(data, '{}')
  for (const [name, source] of Object.entries(sources)) {
    mkdirSync(path.dirname(file(name)), { recursive: true })
    writeFileSync(file(name), `ran.push('${name}')\n${source}`)
  }
  const tape = tapeOf([
    { method: 'GET', url, answer: 'one' },
    { method: 'GET', url: 'http://shop.test/status', answer: 'two' },
  ])
  const require = createRequire(import.meta.url)
  const loadOne = async (name: string) => {
    if (['common', 'required', 'lazy-common'].includes(name)) require(file(name))
    else if (name === 'data') await import(data, { with: { type: 'json' } })
    else if (name.startsWith('throws')) await assert.rejects(import(file(name)))
    else if (name.startsWith('looked-up'))
      for (const resolve of [require.resolve, import.meta.resolve]) resolve(file(name))
    else await import(file(name))
  }
  /**
   * @param own - what the module of the agent itself lays over, which loads again for each case
   * @param lazily - what it imports while it runs, and `own` for what its own code lays over then
   */
  const asked = async (packages: readonly string[], own = '', lazily: readonly string[] = [], isFresh = true) => {
    const load = async () => {
      for (const name of packages) await loadOne(name)
      const before = globalThis.fetch
      if (own !== '') globalThis.fetch = async (...args) => (heard.push(own), before(...args))
      const isKeeper = packages.at(-1) === 'keeps'
      const kept = isKeeper ? ((await import(file('keeps'))) as { get: typeof fetch }).get : undefined
      return async () => {
        for (const name of lazily)
          if (name !== 'own') await loadOne(name)
          else {
            const below = globalThis.fetch
            globalThis.fetch = async (...args) => (heard.push('own in the run'), below(...args))
          }
        return [
          await (await (kept ?? globalThis.fetch)(url)).text(),
          await new Promise((resolve) =>
            http.get('http://shop.test/status', (answer) => answer.on('data', resolve)),
          ).then(String),
        ]
      }
    }
    heard.length = 0
    const result = await replayTape(tape, await guardLoading(load, [], tape, isFresh))
    assert.deepEqual([result.problems, result.outcome], [[], { status: 'returned', value: ['one', 'two'] }])
    const unsaid = result.notCompared.map(({ path: at }) => `? ${at}`)
    return [...heard, ...unsaid].join(' ')
  }
  return Object.fromEntries([
    ['inner, outer', await asked(['inner', 'outer'])],
    ['again', await asked(['inner', 'outer'])],
    ['none', await asked([])],
    ['outer alone', await asked(['outer'])],
    ['the other order', await asked(['outer', 'inner'])],
    ['beside its own', await asked(['inner'], 'own')],
    ['beside its own again', await asked(['inner'], 'own')],
    ['through another package', await asked(['through'])],
    ['through it and outer', await asked(['outer', 'through'], 'own')],
    ['first seen behind another', await asked(['outer', 'defines', 'http'])],
    ['that one alone', await asked(['defines'])],
    ['node:http alone', await asked(['http'])],
    ['required', await asked(['common'], 'own')],
    ['required by another', await asked(['outer', 'common'])],
    ['kept while it loaded', await asked(['inner', 'keeps'])],
    ['kept by one without it', await asked(['keeps'])],
    ['kept again', await asked(['inner', 'keeps'])],
    ['none at the end', await asked([])],
    // A part of what it imports was loaded when another package laid something over fetch: whose it is nobody knows.
    ['a part', await asked(['helper'])],
    ['looked up', await asked(['looked-up', 'looked-up-common', 'data'], 'own')],
    ['required twice from one folder', await asked(['common'])],
    ['an imported one that requires', await asked(['imported-common'], 'own')],
    ['that one again', await asked(['imported-common'], 'own')],
    ['a module that is required', await asked(['required'], 'own')],
    ['it, imported', await asked(['required'], 'own')],
    ['later', await asked(['later'], 'own')],
    ['later again', await asked(['later'], 'own')],
    ['a cycle', await asked(['cycle'], 'own')],
    ['its other end', await asked(['back'], 'own')],
    ['what throws', await asked(['throws', 'throws-common'])],
    ['what throws again', await asked(['throws', 'throws-common'])],
    ['while it runs', await asked(['outer'], 'own', ['lazy', 'lazy-common'])],
    ['while it runs, again', await asked(['outer'], 'own', ['lazy', 'lazy-common'])],
    ['before it runs', await asked(['lazy'], 'own')],
    ['one that loaded before, while it runs', await asked([], '', ['inner', 'http'])],
    ['its own code, while it runs', await asked([], 'own', ['own'])],
    ['that again', await asked([], 'own', ['own'])],
    ['none behind those', await asked([])],
    ['a part, while it runs', await asked([], '', ['lazy-part'])],
    ['that part alone', await asked([], '', ['piece'])],
    ['one copy for all, while it runs', await asked([], '', ['kept'], false)],
    ['one copy for all, again', await asked([], '', ['kept'], false)],
    ['ran', ran.join(' ')],
  ])
})
