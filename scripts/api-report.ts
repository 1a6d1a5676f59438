// Writes what users can import, entry point by entry point, with every type, to api/*.api.md. With --check it only compares:
// a change of a public type is then a diff that a reviewer sees. The doc comments of the root become the reference of
// docs/library.md. Needs a built dist/.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import {
  CompilerState,
  Extractor,
  ExtractorConfig,
  ExtractorLogLevel,
  type IConfigFile,
} from '@microsoft/api-extractor'
import { type ApiItem, examples, reference, rootNames } from './library-reference.ts'

const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  exports: Readonly<Record<string, string | { readonly default: string }>>
}
const doors = Object.entries(exports)
  .map(([door, target]) => [door, typeof target === 'string' ? target : target.default] as const)
  .filter(([, file]) => file.endsWith('.js'))
const isCheck = process.argv.includes('--check')
const scratch = mkdtempSync('.dist-api-')
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }))

const entries = doors.map(([door, file]) => {
  const report = `${door === '.' ? 'index' : door.slice(2)}.api.md`
  return { report, config: configOf(file.replace(/\.js$/, '.d.ts'), report) }
})
// The entry points reach the same declarations: they are compiled once.
const [first, ...others] = entries.map(({ config }) => config)
if (first === undefined) throw new Error('package.json exports no module')
const compilerState = CompilerState.create(first, {
  additionalEntryPoints: others.map(({ mainEntryPointFilePath }) => mainEntryPointFilePath),
})

const changed: string[] = []
for (const { report, config } of entries) {
  const isNew = !existsSync(join('api', report))
  const { apiReportChanged } = Extractor.invoke(config, {
    compilerState,
    localBuild: !isCheck,
    // What it says of a report that differs is said below, with what to do.
    messageCallback: (message) => {
      message.logLevel = ExtractorLogLevel.None
    },
  })
  if (apiReportChanged || (isCheck && isNew)) changed.push(`api/${report}`)
}
const model = JSON.parse(readFileSync(join(scratch, 'index.api.json'), 'utf8')) as ApiItem
if (!renewed('docs/library.md', reference(model))) changed.push('docs/library.md')
compile(examples(model))
const strays = readdirSync('api').filter(
  (file) => !doors.some(([door]) => file === `${door === '.' ? 'index' : door.slice(2)}.api.md`),
)
if (isCheck && changed.length + strays.length > 0) {
  console.error(
    `public types changed: ${[...changed, ...strays.map((file) => `api/${file} (no such entry point)`)].join(', ')}`,
  )
  console.error('run `npm run build && npm run api`, read the diff, commit it, and add a changeset: `npm run change`')
  process.exitCode = 1
}
console.log(
  `looked at ${doors.length} entry points${isCheck || changed.length === 0 ? '' : `; wrote ${changed.join(', ')}`}`,
)

/** Writes what belongs between the marks of a page, and says whether it was there already. */
function renewed(file: string, text: string): boolean {
  const page = readFileSync(file, 'utf8')
  const [start, end] = ['<!-- reference -->', '<!-- /reference -->']
  const whole = `${page.split(start)[0]}${start}\n\n${text}${end}${page.split(end)[1]}`
  if (!isCheck && whole !== page) writeFileSync(file, whole)
  return whole === page
}

/** An example that does not compile is worse than none. */
function compile(texts: readonly string[]): void {
  const given = `declare const refundAgent: (input: any) => Promise<unknown>
declare module '*/refund.ts' { export const refundAgent: (input: any) => Promise<unknown> }
`
  writeFileSync(join(scratch, 'given.d.ts'), given)
  const paths = texts.map((text, index) => {
    const file = join(scratch, `example-${index}.ts`)
    const names = [...new Set(text.match(/\b[a-z]\w+(?=\()/gi))].filter((name) => rootNames.includes(name))
    writeFileSync(file, `import { ${names.join(', ')} } from '../dist/index.js'\n${text}\n`)
    return file
  })
  const options = ['--ignoreConfig', '--noEmit', '--strict', '--skipLibCheck', '--target', 'es2024', '--types', 'node']
  const { status, stdout } = spawnSync(
    'tsc',
    [...options, '--module', 'nodenext', join(scratch, 'given.d.ts'), ...paths],
    { encoding: 'utf8' },
  )
  if (status === 0) return
  console.error(`an example of a doc comment does not compile\n${stdout}`)
  process.exitCode = 1
}

function configOf(entry: string, reportFileName: string): ExtractorConfig {
  const options = { target: 'es2024', lib: ['es2024', 'esnext.disposable'], module: 'nodenext', types: ['node'] }
  const configObject: IConfigFile = {
    projectFolder: resolve('.'),
    mainEntryPointFilePath: resolve(entry),
    newlineKind: 'lf',
    compiler: {
      overrideTsconfig: { compilerOptions: { ...options, strict: true, noEmit: true }, files: [resolve(entry)] },
    },
    apiReport: {
      enabled: true,
      reportFileName,
      reportFolder: resolve('api'),
      reportTempFolder: resolve(scratch),
      // Types that are reached and have no exported name are part of the interface too.
      includeForgottenExports: true,
    },
    docModel: {
      enabled: entry.endsWith('/index.d.ts') && reportFileName === 'index.api.md',
      apiJsonFilePath: resolve(scratch, 'index.api.json'),
      includeForgottenExports: true,
      projectFolderUrl: '',
    },
    dtsRollup: { enabled: false },
    tsdocMetadata: { enabled: false },
    messages: {
      extractorMessageReporting: { default: { logLevel: ExtractorLogLevel.None } },
      tsdocMessageReporting: { default: { logLevel: ExtractorLogLevel.None } },
    },
  }
  return ExtractorConfig.prepare({
    configObject,
    configObjectFullPath: undefined,
    packageJsonFullPath: resolve('package.json'),
  })
}
