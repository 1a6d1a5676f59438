// Builds dist/ from src/: beside the old one first, then swapped, so that a failing build leaves the old one standing.
//
// What users install is small and starts fast: the code in few files without comments, blanks or source maps, and
// declarations, with comments, of what the entry points reach and of nothing else.
import { spawn } from 'node:child_process'
import { chmodSync, existsSync, globSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { resolve } from 'node:path'
import { rolldown } from 'rolldown'
import { dts } from 'rolldown-plugin-dts'
import { ownFiles } from '../src/own-files.ts'
import { buildShell } from './build-shell.ts'
import { usingHelper } from './build-using.ts'
import { writeLicenses } from './licenses.ts'

// Under `npm test` the first gate has built it; a second build would pull dist/ away from tests that run beside it.
if (process.env['HARVEST_TEST_BUILT'] === '1' && existsSync('dist')) process.exit()

interface Manifest {
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>
  readonly bin: Readonly<Record<string, string>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
}

/** What asks where it lies, or finds its own frames on a stack by the file they are in: each is a file of its own. */
const apart = [
  'src/own-files.ts',
  'src/doctor/probe/',
  'src/seam/intercept/on-top.ts',
  // Else they would lie in that one, whose frames are passed over.
  'src/seam/intercept/module-layers.ts',
  'src/seam/intercept/package-layers.ts',
]

/** What is loaded where there is no Node: one file, which shares none with code that asks for Node. */
const nodeless = 'record/elsewhere'

/** What help and the parser of the command line are made of, what most commands need besides, and what they share with all else. */
const table =
  /\/src\/(?:cli\/(?:spec\/\w+|command|commands\/index|choose|exit|help|named-tape|next-lines|parse|typed-again)|report\/(?:fold|moments|output|shown-command)|(?:im|ex)porters\/types)\.ts$/
const places = /\/src\/errors\/(?:above|case-steps|here)\.ts$/
const messages =
  /\/(?:scripts\/build-util|src\/(?:errors\/(?:index|former-codes|neutral|nearest|usual-steps|words|page)|tape\/shared-read|version))\.ts$/

/** How commands print a run. */
const printed =
  /\/src\/report\/(?:confidence|conversation|describe|end|head|lanes|numbered|one-step|overlaps|run|spending)\.ts$/

/** What reads and writes tapes, and what redacts. The finders of earlier tapes are no part of it: what records needs none. */
const tape =
  /\/src\/tape\/(?!byte-classes|closed|cut-off|decode-value|errors|grade|kept-files|links|new-file|partial|present|shared-read|temporary-folder)/
const privacy = /\/src\/privacy\/(?!credentials|earlier\.ts|index\.ts|rules\.ts|second\/|first\/(?!names))/

/** What reads the calls of models. */
const providers = /\/src\/(?:providers\/(?!counted|imported-model-call|rpc)|wire\/(?!aws-frames))/

/** With the form of JSON that is the same everywhere, what is too small for a file and needs no more than that. */
const canonical = /\/src\/(?:json\/canonical|providers\/(?:counted|imported-model-call)|trace\/types)\.ts$/

/**
 * Small modules that every worker loads, and most commands: in two files, for to find and open each takes a worker longer than
 * to read them all. Those in `base` are what a recorder loads too; what is loaded for less is in neither.
 */
const small =
  /\/src\/(?:match\/(?:address|drift-(?:option|policy)|hidden-part|hosts-option|types)|vitest\/(?:channel|neutral-lines)|seam\/intercept\/(?:confine|outside|responder|work)|privacy\/(?:earlier|rules|second\/commands|first\/(?:engine|named|percent|tokens|urls))|tape\/(?:closed|cut-off|grade|kept-files|links|partial)|cases\/(?:accepted-name|former-tapes|pragma|proof-days)|recordings\/(?:files|programs))\.ts$/
const base =
  /\/src\/(?:privacy\/credentials|seam\/(?:caller|connection|patch|shape|source|stdio)|seam\/clients\/(?:drivers|in-memory)|errors\/options)\.ts$/

/**
 * Packages that become part of ours: to find and open the 72 files of `yaml` took each command and each worker longer than
 * to run what is in them. Of its two builds this is the one that is made of modules.
 */
const own: Readonly<Record<string, string>> = {
  [usingHelper]: resolve('scripts/build-using.ts'),
  'node:util': resolve('scripts/build-util.ts'),
  yaml: resolve('node_modules/yaml/browser/dist/index.js'),
}

const next = `.dist-${process.pid}`
const old = `${next}-old`
const declared = `${next}-types`
process.on('exit', () => {
  for (const folder of [next, old, declared]) rmSync(folder, { recursive: true, force: true })
})

const { bin, exports, dependencies, peerDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest
const targets = Object.values(exports).flatMap((target) =>
  typeof target === 'string' ? [target] : Object.values(target),
)
const doors = [...new Set(targets)].filter((file) => file.endsWith('.js'))

const [isDeclared, modules, pageModules] = await Promise.all([
  declare(),
  bundle(),
  buildShell(`${next}/report/shell.json`),
  bundleNodeless(),
])
if (!isDeclared) process.exit(1)
writeLicenses(`${next}/licenses.txt`, [...modules, ...pageModules])

await bundleDeclarations()
for (const file of Object.values(bin)) chmodSync(`${next}/${file.replace('dist/', '')}`, 0o755)

if (existsSync('dist')) renameSync('dist', old)
renameSync(next, 'dist')

/** `./dist/record/index.js` → `record/index` */
function moduleOf(file: string): string {
  return file.replace(/^(?:\.\/)?dist\/|\.js$/g, '')
}

function declare(): Promise<boolean> {
  const args = ['-p', 'tsconfig.build.json', '--outDir', declared, '--declaration', '--emitDeclarationOnly']
  return new Promise((settle, reject) => {
    const child = spawn('tsc', args, { stdio: 'inherit' })
    child.once('error', reject)
    child.once('close', (code) => settle(code === 0))
  })
}

/**
 * What somebody names is a file under its own name; what several of these need lies in files beside, each of them loaded
 * whole or not at all. Names of functions and classes stay: a stack still says where it was.
 *
 * @returns the modules that are in them
 */
async function bundle(): Promise<readonly string[]> {
  const named = [...doors, ...Object.values(bin)].map(moduleOf).filter((name) => name !== nodeless)
  const alone = apart.map((part) =>
    part
      .replace(/^src\//, '')
      .replace(/\/$/, '/index')
      .replace(/\.ts$/, ''),
  )
  const bundled = await rolldown({
    input: Object.fromEntries([...named, ...ownFiles, ...alone].map((name) => [name, `src/${name}.ts`])),
    platform: 'node',
    // The oldest Node that is supported, 22.15, has no `using`.
    transform: { target: 'es2024' },
    plugins: [{ name: 'own', resolveId: (id) => own[id] ?? null }],
    external: (id) => !/^[./]/.test(id) && own[id] === undefined,
    onLog(level, log) {
      throw new Error(`${level}: ${log.message}`)
    },
  })
  const { output } = await bundled.write({
    dir: next,
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    // In few files: to find and open each costs more than to read it.
    codeSplitting: {
      groups: [
        { name: 'errors', test: messages, priority: 2 },
        { name: 'places', test: places, priority: 2 },
        { name: 'table', test: table, priority: 1 },
        { name: 'base', test: base, priority: 1 },
        { name: 'small', test: small },
        // What others take along lies in a file of its own.
        { name: 'own-files', test: /\/src\/own-files\.ts$/, priority: 3 },
        { name: 'new-file', test: /\/src\/tape\/new-file\.ts$/, priority: 3 },
        // A recorder reads no value back, unless functions of the application look at its runs.
        { name: 'decode-value', test: /\/src\/tape\/(?:byte-classes|decode-value)\.ts$/, priority: 3 },
        { name: 'tape-errors', test: /\/src\/tape\/errors\.ts$/, priority: 4 },
        { name: 'present', test: /\/src\/tape\/present\.ts$/, priority: 3 },
        { name: 'canonical', test: canonical, priority: 3 },
        { name: 'tape', test: tape, priority: 1 },
        { name: 'providers', test: providers, priority: 1 },
        { name: 'aws-frames', test: /\/src\/wire\/aws-frames\.ts$/, priority: 3 },
        { name: 'privacy', test: privacy, priority: 1 },
        { name: 'printed', test: printed },
      ],
    },
    keepNames: true,
    // Hints for bundlers, which they need for nothing that is in here.
    comments: { annotation: false },
    minify: {
      // A debugger of ours stops at a statement of its own.
      compress: { target: 'node22', keepNames: { function: true, class: true }, dropDebugger: false },
      mangle: { keepNames: true },
      codegen: { removeWhitespace: true },
    },
  })
  await bundled.close()
  const chunks = output.filter((file) => file.type === 'chunk')
  const ours = new Set(chunks.map(({ fileName }) => fileName))
  const strangers = chunks.flatMap(({ fileName, imports, dynamicImports }) =>
    [...imports, ...dynamicImports]
      .filter((id) => !ours.has(id) && !isInstalled(id))
      .map((id) => `${id} in ${fileName}`),
  )
  if (strangers.length > 0) throw new Error(`imported, and not installed with the package: ${strangers.join(', ')}`)
  const files = chunks.map(({ moduleIds }) => moduleIds)
  for (const group of [table, places, messages, base, small, canonical, tape, providers, privacy, printed]) {
    const others = files.find((modules) => modules.some((id) => group.test(id)))?.filter((id) => !group.test(id)) ?? []
    if (others.length > 0) throw new Error(`a file of few modules holds others: ${others.join(', ')}`)
  }
  for (const part of apart) {
    const holders = files.filter((modules) => modules.some((id) => id.includes(part)))
    const others = holders.flat().filter((id) => !id.includes(part))
    if (holders.length !== 1 || others.length > 0)
      throw new Error(`${part} is not a file of its own: ${holders.length} files, with ${others.join(', ')}`)
  }
  return files.flat()
}

/** Whether it is there where the package is: Node's own, or a package that comes with it. */
function isInstalled(id: string): boolean {
  const [scope = '', name = ''] = id.split('/')
  const wanted = scope.startsWith('@') ? `${scope}/${name}` : scope
  return isBuiltin(id) || wanted in dependencies || wanted in peerDependencies
}

async function bundleNodeless(): Promise<void> {
  const bundled = await rolldown({
    input: `src/${nodeless}.ts`,
    platform: 'neutral',
    transform: { target: 'es2022' },
    external: () => false,
    onLog(level, log) {
      throw new Error(`${level}: ${log.message}`)
    },
  })
  await bundled.write({ file: `${next}/${nodeless}.js`, minify: { compress: false, mangle: false } })
  await bundled.close()
}

/** Of each entry point a file with what it exports; what several of them reach lies in files beside. */
async function bundleDeclarations(): Promise<void> {
  const named = doors.map(moduleOf)
  const bundled = await rolldown({
    input: Object.fromEntries(named.map((name) => [name, resolve(declared, `${name}.d.ts`)])),
    external: (id) => !/^[./]/.test(id),
    plugins: [dts({ dtsOnly: true, generator: 'oxc', tsconfig: 'tsconfig.build.json' })],
    // On a busy machine it would tell how long a plugin took, and every warning is an error here.
    checks: { bundlerTimings: false },
    onLog(level, log) {
      throw new Error(`${level}: ${log.message}`)
    },
  })
  const { output } = await bundled.write({ dir: next, chunkFileNames: 'types/[name]-[hash].d.ts' })
  await bundled.close()
  const written = new Set(output.map(({ fileName }) => fileName))
  const missing = named.filter((name) => !written.has(`${name}.d.ts`))
  if (missing.length > 0) throw new Error(`entry points without declarations: ${missing.join(', ')}`)
  // Nobody reads them but compilers and editors, and these do not look at indentation.
  for (const file of globSync(`${next}/**/*.d.ts`)) {
    const text = readFileSync(file, 'utf8')
    writeFileSync(
      file,
      text.replaceAll(/^ +(?=\S)/gm, (blank) => (blank.length % 2 === 1 ? ' ' : '')),
    )
  }
}
