// Writes what users can import, entry point by entry point, with every type, to api/*.api.md. With --check it only compares:
// a change of a public type is then a diff that a reviewer sees. Needs a built dist/.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Extractor, ExtractorConfig, ExtractorLogLevel, type IConfigFile } from '@microsoft/api-extractor'

const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as { exports: Readonly<Record<string, string>> }
const doors = Object.entries(exports).filter(([, file]) => file.endsWith('.js'))
const isCheck = process.argv.includes('--check')
const scratch = mkdtempSync('.dist-api-')
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }))

const changed: string[] = []
for (const [door, file] of doors) {
  const report = `${door === '.' ? 'index' : door.slice(2)}.api.md`
  const isNew = !existsSync(join('api', report))
  const { apiReportChanged } = Extractor.invoke(configOf(file.replace(/\.js$/, '.d.ts'), report), {
    localBuild: !isCheck,
    // What it says of a report that differs is said below, with what to do.
    messageCallback: (message) => {
      message.logLevel = ExtractorLogLevel.None
    },
  })
  if (apiReportChanged || (isCheck && isNew)) changed.push(`api/${report}`)
}
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
    docModel: { enabled: false },
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
