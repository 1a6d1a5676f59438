import '../support/packed.ts'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { built } from '../support/built.ts'
import { putTape } from '../recordings/make.ts'
import { warmHarvest as harvest } from './harvest.ts'
import { startProvider } from './provider.ts'
import { hasTerminal, onTerminal } from './terminal.ts'

// What was just recorded runs again after one question, also with arguments of Node before the script.
const program = `const answer = await fetch(process.argv[2], { method: 'POST', body: '{}' })
console.log('asked', (await answer.json()).model satisfies string)
`

describe.skipIf(!hasTerminal)('the program of a tape, at a terminal', () => {
  let folder = ''
  let url = ''
  beforeAll(async () => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'harvest-consent-')))
    mkdirSync(join(folder, '.git'))
    symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
    writeFileSync(join(folder, 'package.json'), '{\n  "type": "module"\n}\n')
    writeFileSync(join(folder, 'loader.mjs'), '')
    writeFileSync(join(folder, 'agent.ts'), program)
    putTape(join(folder, 'recordings'), 'inbox/foreign', {
      header: { command: { argv: ['sh', '-c', 'touch canary\u001b[2J'], cwd: '.' } },
    })
    const provider = await startProvider('Refunded.')
    url = provider.url
    return () => {
      provider.close()
      rmSync(folder, { recursive: true, force: true })
    }
  })
  const words = (): readonly string[] => ['node', '--import', './loader.mjs', 'agent.ts', url]
  const manifest = (): unknown => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))

  it('that has just been recorded is replayed and verified after one yes, which the project keeps', async () => {
    const recorded = await onTerminal(['record', '--id', 'first', '--', ...words()], { cwd: folder, answer: 'y' })
    expect(recorded.output).toContain(`command  ${words().join(' ')}`)
    expect(recorded.output).toContain('List it in package.json? [y/N]')
    expect(recorded.output).toContain('listed in package.json as harvest.programs.agent')
    expect(manifest()).toEqual({ type: 'module', harvest: { programs: { agent: words() } } })
    const again = await onTerminal(['record', '--id', 'second', '--', ...words()], { cwd: folder })
    expect(again.output).not.toContain('[y/N]')
    for (const command of ['replay', 'verify']) {
      const { code, stderr } = await harvest([command, 'first'], { cwd: folder })
      expect({ command, code, stderr: stderr.includes('UNASKED') }).toEqual({ command, code: 0, stderr: false })
    }
  })

  it('is asked about with its whole command, where it would run and the tape; only yes runs it', async () => {
    const { code, output } = await onTerminal(['replay', 'foreign'], { cwd: folder, answer: '' })
    expect(output).toContain("command  sh -c 'touch canary\\x1b[2J'")
    expect(output).toContain(`folder   ${folder}`)
    expect(output).toContain('inbox/foreign.tape.jsonl')
    expect(output).toContain('Run it? [y/N]')
    expect([code, output.includes('HARVEST_CLI_COMMAND_UNTRUSTED')]).toEqual([2, true])
  })

  it('runs after a yes, that once', async () => {
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    const { code } = await onTerminal(['verify', 'first'], { cwd: folder, answer: 'y' })
    expect(code).toBe(0)
    expect(manifest()).toEqual({ type: 'module' })
  })

  it('is not asked about in CI, or where a coding agent sits at the terminal', async () => {
    const { code, output } = await onTerminal(['replay', 'foreign'], { cwd: folder, env: { CODEX_SANDBOX: '1' } })
    expect([code, output.includes('[y/N]'), output.includes('--run-recorded')]).toEqual([2, false, true])
    const recorded = await onTerminal(['record', '--', ...words()], { cwd: folder, env: { CI: '1' } })
    expect([recorded.code, recorded.output.includes('[y/N]')]).toEqual([0, false])
    expect(manifest()).toEqual({ type: 'module' })
  })

  it('may be listed in the Vitest config, and one that cannot be read is said', { tags: 'thorough' }, async () => {
    const config = (text: string): void => writeFileSync(join(folder, 'vitest.config.ts'), text)
    const plugin = built('vitest/plugin.js')
    const programs = JSON.stringify({ agent: [...words().slice(0, -1), '*'] })
    config(`import { harvest } from ${JSON.stringify(plugin)}
const text: string = 'a config that prints'
console.log(text)
export default async () => ({ plugins: [[Promise.resolve(harvest({ agents: {}, programs: ${programs} }))]] })
`)
    // What fits the list only up to the star is another program: the address has a colon and slashes, which are plain.
    const { code, stdout } = await harvest(['replay', 'first', '--json'], { cwd: folder })
    expect({ code, held: (JSON.parse(stdout) as { held: boolean }).held }).toEqual({ code: 0, held: true })
    config('throw new Error("no config today")')
    const refused = await harvest(['replay', 'first'], { cwd: folder })
    expect(refused.stderr).toMatch(/config +could not be read: no config today/)
    expect(refused.code).toBe(2)
  })
})
