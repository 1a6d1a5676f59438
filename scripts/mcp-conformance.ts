// `npm run test:mcp [-- <times> <busy loops>]`: installs the conformance suite and the example servers of MCP from npm, records the client of
// the official SDK in each client scenario of the suite and against each example server, and the client of the suite in each of
// its server scenarios; stops all of these, and replays each tape so many times (200) beside so many busy loops (4).
// Ends with 1 when any replay differs.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Job } from './mcp-conformance/agents.ts'

const [times = '200', loops = '4'] = process.argv.slice(2)
const wanted = ['conformance@0.1.16', ...['everything', 'filesystem', 'memory'].map((one) => `server-${one}@2026.8.31`)]
const packages = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'vitest-harvest-mcp')
const scope = join(packages, 'node_modules/@modelcontextprotocol')
if (!existsSync(join(scope, 'server-memory'))) {
  mkdirSync(packages, { recursive: true })
  writeFileSync(join(packages, 'package.json'), '{ "private": true }\n')
  const specs = wanted.map((name) => `@modelcontextprotocol/${name}`)
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error', ...specs], {
    cwd: packages,
    stdio: 'inherit',
  })
}

const dir = mkdtempSync(join(tmpdir(), 'harvest-conformance-'))
const own = join(import.meta.dirname, 'mcp-conformance')
const env = { ...process.env, CONFORMANCE_DIR: dir }
const suite = join(scope, 'conformance')
try {
  recordScenarios()
  await recordExamples()
  spawnSync('node', [join(own, 'record-server.ts'), suite], { env, stdio: 'inherit' })
  const replayed = spawnSync('node', [join(own, 'replay.ts'), dir, suite, times, loops], { stdio: 'inherit' })
  process.exitCode = replayed.status ?? 1
} finally {
  rmSync(dir, { recursive: true, force: true })
}

/** Each starts a server of its own, and judges the client that it starts. */
function recordScenarios(): void {
  const program = join(suite, 'dist/index.js')
  const listed = execFileSync('node', [program, 'list', '--client'], { encoding: 'utf8' })
  const scenarios = listed
    .slice(listed.indexOf('Client scenarios'))
    .split('\n')
    .flatMap((line) => /^ +- (\S+)/.exec(line)?.[1] ?? [])
  for (const scenario of scenarios) {
    const words = [
      'client',
      '--command',
      `node ${join(own, 'record.ts')}`,
      '--scenario',
      scenario,
      '--timeout',
      '120000',
    ]
    const { status, stdout, stderr } = spawnSync('node', [program, ...words], { env, cwd: dir, encoding: 'utf8' })
    const [passed = ''] = /Passed: [^\n]*/.exec(stdout + stderr) ?? []
    console.log(`${status === 0 ? 'passes' : 'is not passed'}  ${scenario}  ${passed}`)
  }
}

async function recordExamples(): Promise<void> {
  const program = (name: string): string => join(scope, `server-${name}`, 'dist/index.js')
  const folder = join(dir, 'desk')
  mkdirSync(folder)
  for (const file of ['note.txt', 'list.txt']) writeFileSync(join(folder, file), `this is ${file}\n`)
  const port = await freePort()
  const server = spawn('node', [program('everything'), 'streamableHttp'], {
    env: { ...process.env, PORT: `${port}` },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  await once(server.stderr, 'data')
  const jobs: readonly Job[] = [
    { name: 'everything over stdio', command: ['node', program('everything'), 'stdio'] },
    { name: 'everything over streamable HTTP', url: `http://127.0.0.1:${port}/mcp` },
    { name: 'filesystem over stdio', command: ['node', program('filesystem'), folder], folder },
    { name: 'memory over stdio', command: ['node', program('memory')] },
  ]
  for (const job of jobs) {
    const about = { ...env, CONFORMANCE_JOB: JSON.stringify(job), MEMORY_FILE_PATH: join(folder, 'memory.jsonl') }
    const { status, stderr } = spawnSync('node', [join(own, 'record.ts')], { env: about, encoding: 'utf8' })
    console.log(`${status === 0 ? 'recorded' : 'FAILED to record'}  ${job.name}`, stderr)
  }
  server.kill()
  await once(server, 'exit')
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
