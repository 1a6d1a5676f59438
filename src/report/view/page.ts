import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { neutralJson } from '../../errors/index.ts'
import type { GoldenData, ReportData } from './types.ts'
import { ownFolder } from '../../own-files.ts'

/** The parts of the page that are the same for every report, built with the package. */
export interface Shell {
  readonly js: string
  readonly css: string
  /** Sets the theme before anything is drawn. */
  readonly boot: string
  /** As the policy of the page names them. */
  readonly hash: { readonly js: string; readonly css: string; readonly boot: string }
}

/** Names the maker of a page: a file is replaced unasked only where it says so. */
export const generator = '<meta name="generator" content="vitest-harvest">'

let known: Shell | undefined
/** Reads the built page, once. */
export function readShell(): Shell {
  // The same place from the sources and from the built package.
  known ??= JSON.parse(readFileSync(new URL('../dist/report/shell.json', ownFolder), 'utf8')) as Shell
  return known
}

/** Characters of JSON that stand in the page as they are. */
const maxPlain = 256 * 1024

/**
 * A report as one HTML file that loads nothing: script, style and data are in it, and its policy allows these by their
 * hashes and nothing else.
 *
 * @param how - how the data stand in it; default by their size
 */
export function pageOf(data: ReportData | GoldenData, shell: Shell = readShell(), how?: 'json' | 'gzip'): string {
  const { js, css, boot, hash } = shell
  const json = JSON.stringify(data)
  const isPacked = how === undefined ? json.length > maxPlain : how === 'gzip'
  const type = isPacked ? 'application/octet-stream' : 'application/json'
  // Without `<` no tag, comment or end of script can stand in the data, and nothing that a terminal obeys.
  const block = isPacked
    ? gzipSync(json, { level: 9 }).toString('base64')
    : neutralJson(json).replaceAll('<', '\\u003c')
  const policy = [
    "default-src 'none'",
    `script-src ${hash.boot} ${hash.js}`,
    `style-src ${hash.css}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
  const head = [
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    '<meta name="viewport" content="width=device-width,initial-scale=1">',
    '<meta name="referrer" content="no-referrer">',
    generator,
    '<title>report</title>',
    '<link rel="icon" href="data:,">',
    `<script>${boot}</script>`,
    `<style>${css}</style>`,
  ].join('')
  const words = '<p>This page needs JavaScript. The tape can be read without: npx vitest-harvest show</p>'
  return `<!doctype html><html lang="en" data-theme="light"><head>${head}</head><body><div id="app">${words}</div><script type="${type}" id="data">${block}</script><script>${js}</script></body></html>`
}
