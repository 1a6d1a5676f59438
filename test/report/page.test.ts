import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { pageOf, readShell } from '../../src/report/view/page.ts'
import { reportFile } from '../../src/report/view/report-file.ts'
import { reportData } from '../../src/report/view/report-data.ts'
import { built } from '../support/built.ts'
import { hostileDesk } from './hostile.ts'
import { deskTape, opened } from './desk.ts'

built('report/shell.json')
const data = reportData({ run: opened(deskTape()), madeAt: '2026-03-04T05:06:07.000Z' })
const hash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
/** The contents of elements, as the page has them. */
const contents = (html: string, name: string): readonly string[] =>
  [...html.matchAll(new RegExp(`<${name}(?: [^>]*)?>([\\s\\S]*?)</${name}>`, 'g'))].map(([, inner = '']) => inner)

describe('a report', () => {
  it('allows its own script and style by their hashes, and nothing else', () => {
    const html = pageOf(data)
    const [boot = '', block = '', js = ''] = contents(html, 'script')
    const [css = ''] = contents(html, 'style')
    const policy = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(html)?.[1]
    expect(policy).toBe(
      `default-src 'none'; script-src ${hash(boot)} ${hash(js)}; style-src ${hash(css)}; img-src data:; base-uri 'none'; form-action 'none'`,
    )
    expect(JSON.parse(block)).toEqual(data)
    expect(contents(html, 'script')).toHaveLength(3)
  })

  it('names no address outside of its data', () => {
    const { js, css, boot } = readShell()
    const named = [...`${js}${css}${boot}`.matchAll(/https?:\/\/[\w./-]+/g)].map(([address]) => address)
    // Names of XML, and a page of the framework that is printed by its development build only.
    expect([...new Set(named)].filter((address) => !address.startsWith('http://www.w3.org/'))).toEqual([])
  })

  it('is the same file from the same data', () => {
    expect(pageOf(data)).toBe(pageOf(data))
    expect(pageOf(data, readShell(), 'gzip')).toBe(pageOf(data, readShell(), 'gzip'))
  })

  it('holds the same data packed, as it is when they are large', () => {
    const html = pageOf(data, readShell(), 'gzip')
    const block = contents(html, 'script')[1] ?? ''
    expect(JSON.parse(gunzipSync(Buffer.from(block, 'base64')).toString('utf8'))).toEqual(data)
    const large = { ...data, texts: [...data.texts, 'x'.repeat(300_000)] }
    expect(pageOf(large)).toContain('<script type="application/octet-stream" id="data">')
  })

  it('has no text of a tape in which a tag, a comment or the end of a line of script could stand, or that a terminal obeys', () => {
    const html = pageOf(hostileDesk())
    const [, block = ''] = contents(html, 'script')
    expect(contents(html, 'script')).toHaveLength(3)
    expect(JSON.stringify(hostileDesk())).toMatch(/[\u007f-\u009f\u202e]/)
    expect(block).not.toMatch(/[<\u2028\u2029\u007f-\u009f\u202a-\u202e\u200e\u200f]/)
    expect(JSON.parse(block)).toEqual(hostileDesk())
  })

  it('is small: a script of 100 KiB and a style of 16 KiB at most', () => {
    const { js, css } = readShell()
    expect(js.length).toBeLessThanOrEqual(100 * 1024)
    expect(css.length).toBeLessThanOrEqual(16 * 1024)
  })
})

describe('the sources of the page', () => {
  const sources = globSync('src/report/page/*.{ts,tsx}').map((file) => [file, readFileSync(file, 'utf8')] as const)

  it('make no element of text, no link of recorded text, and no request', () => {
    expect(sources.length).toBeGreaterThan(15)
    const forbidden =
      /innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|document\.write|\beval\(|new Function|\bfetch\(|XMLHttpRequest|WebSocket|EventSource|localStorage|sessionStorage|document\.cookie|\bstyle="/
    expect(sources.flatMap(([file, text]) => (forbidden.test(text) ? [file] : []))).toEqual([])
    // Links go to pages of the same server or folder, whose names we made.
    expect(sources.filter(([, text]) => /href=/.test(text)).map(([file]) => file)).toEqual([
      'src/report/page/golden.tsx',
      'src/report/page/inbox.tsx',
    ])
  })

  it('name each colour pair with a contrast of at least 4.5, in both themes', () => {
    const css = readFileSync('src/report/page/style.css', 'utf8')
    for (const theme of [/:root \{([^}]*)\}/, /\[data-theme="?dark"?\] \{([^}]*)\}/]) {
      const colours = new Map(
        [...(theme.exec(css)?.[1] ?? '').matchAll(/--([\w-]+): (#\w+)/g)].map(([, name = '', colour = '']) => [
          name,
          colour,
        ]),
      )
      const weak = pairs.filter(([front, back]) => contrast(colours.get(front), colours.get(back)) < 4.5)
      expect(weak.map((pair) => pair.join(' on '))).toEqual([])
    }
  })
})

describe('the file a red case leaves', () => {
  it('is named after its case, below one folder', () => {
    const of = (name: string): string => reportFile('/app/recordings', `/app/recordings/${name}`)
    expect(of('golden/refund/refund-100x.case.yaml')).toBe('.harvest/report/golden/refund/refund-100x.html')
    expect(of('golden/refund-100x.case.yml')).toBe('.harvest/report/golden/refund-100x.html')
    expect(of('../../etc/a b.case.yaml')).toBe('.harvest/report/-/-/etc/a-b.html')
  })
})

const grounds = ['bg', 'panel', 'sunk', 'sel']
const pairs: readonly (readonly [front: string, back: string])[] = [
  ...['ink', 'soft', 'faint', 'link'].flatMap((front) => grounds.map((back) => [front, back] as const)),
  ...['model', 'tool', 'retrieval', 'http', 'note', 'bad', 'ok', 'warn', 'blame'].map(
    (kind) => [kind, `${kind}-bg`] as const,
  ),
  ['panel', 'blame'],
  ['panel', 'bad'],
  ['soft', 'blame-bg'],
  ['soft', 'bad-bg'],
  ['soft', 'warn-bg'],
  ['ink', 'blame-bg'],
  ['faint', 'blame-bg'],
  ['link', 'blame-bg'],
  ['link', 'bad-bg'],
  ...['add', 'add2', 'del', 'del2', 'model-bg'].map((back) => ['ink', back] as const),
]

function contrast(front = '#000', back = '#000'): number {
  const [light, dark] = [luminance(front), luminance(back)].sort((one, other) => other - one) as [number, number]
  return (light + 0.05) / (dark + 0.05)
}

/** As WCAG 2 defines it. */
function luminance(colour: string): number {
  const long = colour.length === 4 ? [...colour.slice(1)].map((digit) => digit + digit).join('') : colour.slice(1, 7)
  const [red = 0, green = 0, blue = 0] = (long.match(/../g) ?? [])
    .map((part) => Number.parseInt(part, 16) / 255)
    .map((value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
