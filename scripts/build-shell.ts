// The page of a report, built once: a script and a style, with the hashes that its policy names. Reports put their data beside.
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { build } from 'vite'

const page = 'src/report/page'

/** Sets the theme before anything is drawn. */
const boot = `document.documentElement.dataset.theme=matchMedia('(prefers-color-scheme: dark)').matches?'dark':'light'`

/**
 * Writes `{ js, css, boot, hash }` to a file.
 *
 * @returns the modules that are in the script
 */
export async function buildShell(file: string): Promise<readonly string[]> {
  const built = await build({
    root: page,
    configFile: false,
    logLevel: 'warn',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    define: { 'process.env.NODE_ENV': '"production"' },
    build: {
      write: false,
      target: 'es2022',
      minify: 'oxc',
      lib: { entry: 'main.tsx', formats: ['iife'], name: 'harvest' },
    },
  })
  const [result] = Array.isArray(built) ? built : [built]
  if (result === undefined || !('output' in result)) throw new Error('vite built nothing')
  const [chunk] = result.output
  // A script ends at its closing tag wherever that stands.
  const js = chunk.code.trim().replaceAll('</script', String.raw`<\/script`).replaceAll('<!--', String.raw`<\!--`)
  const css = minified(readFileSync(`${page}/style.css`, 'utf8'))
  const shell = { js, css, boot, hash: { js: hashOf(js), css: hashOf(css), boot: hashOf(boot) } }
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, JSON.stringify(shell))
  return chunk.moduleIds
}

function minified(css: string): string {
  return css
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ?([{};,>]) ?/g, '$1')
    .replaceAll(/: /g, ':')
    .replaceAll(';}', '}')
    .trim()
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}
