import { stripTypeScriptTypes } from 'node:module'
import { readFileSync } from 'node:fs'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { createRedactor } from '../../src/privacy/index.ts'
import { rewritten } from '../../src/replay/functions.ts'
import { Codes, type FunctionCode, mayBeSame } from '../../src/seam/code-of.ts'
import { forms } from './code-forms.ts'

type AnyFunction = (...args: never[]) => unknown
type Form = keyof typeof forms

const codes = new Codes((text) => createRedactor().scan(text))
const codeOf = (fn: AnyFunction): FunctionCode | undefined => codes.of(fn)

const source = readFileSync(new URL('./code-forms.ts', import.meta.url), 'utf8')
const asCommonJs = (text: string): Readonly<Record<Form, AnyFunction>> => {
  const module = { exports: {} as { forms: Readonly<Record<Form, AnyFunction>> } }
  runInNewContext(text, { module, exports: module.exports, require: () => ({}) })
  return module.exports.forms
}
/** As Node runs it: what is no type stays as it is written. */
const stripped = stripTypeScriptTypes(source)
  .replaceAll(/^import .*$/gm, '')
  .replace('export const forms', 'exports.forms')

/** The same functions as several loaders write them: the one of this test is that of Vitest. */
const loaders: Readonly<Record<string, Readonly<Record<Form, AnyFunction>>>> = {
  Vitest: forms as never,
  'Node, without types': asCommonJs(stripped),
  'a compiler to CommonJS': asCommonJs(
    stripped
      .replaceAll('createHash(', '(0, node_crypto_1.createHash)(')
      .replaceAll('path.join', 'path_1.join')
      .replaceAll('fs.exists', 'node_fs_1.default.exists'),
  ),
}
const names = Object.keys(forms) as readonly Form[]

describe('what tells a function from another', () => {
  test.for(names)('is one however it is loaded: %s', (name) => {
    const codes = Object.values(loaders).map((loaded) => codeOf(loaded[name])!)
    for (const one of codes)
      for (const other of codes) expect([one, other, mayBeSame(one, other)]).toEqual([one, other, true])
  })

  test('is another one for each function', () => {
    for (const loaded of Object.values(loaders))
      for (const one of names)
        for (const other of names)
          expect([one, other, mayBeSame(codeOf(forms[one] as AnyFunction)!, codeOf(loaded[other])!)]).toEqual([
            one,
            other,
            one === other,
          ])
  })

  const anew = (text: string): AnyFunction => runInNewContext(`(${text})`) as AnyFunction
  test.each([
    [
      'a function in a constant',
      '(a) => { const g = (x) => x + 1; return g(a) }',
      '(a)=>{const g=/* @__PURE__ */ __name((x)=>x+1,"g");return g(a)}',
    ],
    [
      'a class',
      '() => { class In { m() { return 1 } } return new In() }',
      '()=>{class In{static{__name(this,"In")}m(){return 1}}return new In()}',
    ],
    ['`undefined`', '() => undefined', '()=>void 0'],
    ['a boolean', '(a) => a === true || a === false', '(a)=>a===!0||a===!1'],
    ['a line in a template', '(a) => `two\nlines ${a}`', '(a)=>`two\\nlines ${a}`'],
    ['a letter beyond ASCII', "() => 'caf\\u00e9'", "()=>'caf\u00e9'"],
  ])('is the same where a loader keeps names and writes %s in its own way', (_, one, other) => {
    expect(codeOf(anew(one))).toEqual(codeOf(anew(other)))
  })

  describe('does not depend on how a function is handed over', () => {
    const body = '(a, b) { const rate = 25; return lookup(a, b, `EUR`, rate) }'
    const arrow = body.replace(') {', ') => {')
    /** How one function may be written, and whether it is given a name. */
    const ways: Readonly<Record<string, string>> = {
      'an arrow in an object': `({ refund: async ${arrow} }).refund`,
      'an arrow by itself': `async ${arrow}`,
      'an arrow in a constant': `(() => { const refund = async ${arrow}; return refund })()`,
      'a method': `({ async refund${body} }).refund`,
      'a static method': `(class { static async refund ${body} }).refund`,
      'a declaration': `(() => { return refund; async function refund${body} })()`,
      'a function expression': `({ refund: async function ${body} }).refund`,
      'a function expression by itself': `async function${body}`,
    }
    const meet = (one: AnyFunction, other: AnyFunction): boolean => {
      const recorded = codeOf(one)!
      return [codeOf(other)!, ...rewritten(codes, other, recorded[0])].some((now) => mayBeSame(recorded, now))
    }
    const pairs = Object.keys(ways).flatMap((one) => Object.keys(ways).map((other) => [one, other] as const))
    test.each(pairs)('%s, now %s', (one, other) => {
      const text = (way: string, change = (from: string) => from) => anew(change(ways[way]!))
      expect(meet(text(one), text(other))).toBe(true)
      for (const change of [
        (from: string) => from.replace('25', '26'),
        (from: string) => from.replace('EUR', 'USD'),
        (from: string) => from.replace('lookup', 'find'),
        (from: string) => from.replace('async', ''),
      ])
        expect(meet(text(one), text(other, change))).toBe(false)
      // Its own name tells it from another one, where both have one.
      const renamed = text(other, (from) => from.replaceAll('refund', 'payout'))
      expect(meet(text(one), renamed)).toBe(text(one).name === '' || renamed.name === '')
    })
  })

  test('is not another one where a text is another name in it, and is where it is any other text', () => {
    const of = (text: string) => codeOf(anew(`(refund, pay) => refund({ how: ${text} }) ?? pay`))
    expect(mayBeSame(of("'refund'")!, of("'pay'")!)).toBe(true)
    expect(mayBeSame(of("'refund'")!, of("'keep'")!)).toBe(false)
    expect(mayBeSame(of('true')!, of('false')!)).toBe(false)
  })

  test('is the same for another format, other comments and quotes', () => {
    const [one, other] = [
      `async (o) => { // pays
        return pay('eu', o.id, 1_000) }`,
      'async(o)=>{return pay("eu",o.id,1000/* cents */)}',
    ]
    expect(codeOf(anew(one))).toEqual(codeOf(anew(other)))
  })

  test('changes with a name, a text, a number, a flag, and the name of the function', () => {
    const body = 'async (o) => pay(`eu ${o.id}`, 1000, { dry: true }, /^a$/)'
    for (const [was, is] of [
      ['pay', 'refund'],
      ['eu', 'us'],
      ['o.id', 'o.key'],
      ['1000', '100'],
      ['true', 'false'],
      ['^a', '^b'],
      ['async (o) =>', 'async function pays(o) { return'],
    ] as const) {
      const changed = was.startsWith('async') ? `${body.replace(was, is)} }` : body.replace(was, is)
      expect([is, mayBeSame(codeOf(anew(body))!, codeOf(anew(changed))!)]).toEqual([is, false])
    }
  })

  test('is read of all that JavaScript may say', () => {
    for (const text of [
      '() => String.raw`\\u{fffffff} \\u{zz} ${1}`',
      "() => /[/'\"]/.test('`') / 2 / 3",
      '() => "\\\\"',
    ])
      expect(codeOf(anew(text))).toEqual(['', expect.stringMatching(/^[\w-]{8}\.[\w-]{8}$/)])
    const nameless = Object.defineProperty(() => 0, 'name', { value: Symbol('x') })
    expect(codeOf(nameless)?.[0]).toBe('')
  })

  test('follows from no secret in its source', () => {
    for (const [one, other] of [
      ['sk-proj-4pQ9xZ1LmN8vT2bK7cR5wY3aE6dF0gHs', 'sk-proj-9rT2bK7cR5wY3aE6dF0gHs4pQ9xZ1LmN8v'],
      ['anna.lovelace@example.org', 'carl.babbage@example.org'],
    ] as const)
      expect(codeOf(anew(`() => pay({ region: 'eu', by: '${one}' })`))).toEqual(
        codeOf(anew(`() => pay({ region: 'eu', by: '${other}' })`)),
      )
    const password = (value: string): AnyFunction => anew(`() => pay({ region: 'eu', password: '${value}' })`)
    expect(codeOf(password('swordfish77'))).toEqual(codeOf(password('correct-horse9')))
  })

  test('is not known where a coverage tool wrote into the function', () => {
    expect(codeOf(anew('(o) => { cov_1xy2().f[0]++; return o }'))).toBeUndefined()
  })

  test('of a bound function is its name', () => {
    const bind = (region: string): AnyFunction =>
      function refund(this: unknown) {
        return region
      }.bind(region)
    expect(codeOf(bind('eu'))).toEqual(codeOf(bind('us')))
    expect(codeOf(bind('eu'))?.[0]).toBe('bound refund')
  })
})
