// One bench in a process of its own: node --expose-gc bench/kit/child.ts NAME RESULT [--quick]
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, platform, release, tmpdir, totalmem } from 'node:os'
import { join, resolve } from 'node:path'
import type { Bench, KeptResult } from './contract.ts'
import { installPeers, peerVersions } from './peers.ts'

const [name = '', file = '', mode] = process.argv.slice(2)
const scratch = mkdtempSync(join(tmpdir(), `vitest-harvest-bench-${name}-`))
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }))
const used = new Set<string>()

const { default: bench } = (await import(`../${name}/bench.ts`)) as { default: Bench }
const result = await bench.run({
  isQuick: mode === '--quick',
  scratch,
  progress(line) {
    if (process.stderr.isTTY) process.stderr.write(`\r\u001B[K  ${line}`)
  },
  async peers(each) {
    used.add(each)
    return installPeers(each)
  },
})
if (process.stderr.isTTY) process.stderr.write('\r\u001B[K')

const own = JSON.parse(readFileSync(resolve(import.meta.dirname, '../../package.json'), 'utf8')) as { version: string }
const kept: KeptResult = {
  name,
  question: bench.question,
  ...(mode === '--quick' ? { isQuick: true } : {}),
  date: new Date().toISOString().slice(0, 10),
  machine: `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GB, ${platform()} ${release()}`,
  node: process.version,
  versions: Object.assign({ 'vitest-harvest': own.version }, ...[...used].map(peerVersions)) as Record<string, string>,
  ...result,
}
writeFileSync(file, `${JSON.stringify(kept, null, 2)}\n`)
// What a peer left open must not keep the run from its end.
process.exit(0)
