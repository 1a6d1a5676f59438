import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { harvest, run, scratch } from '../cli/harvest.ts'
import { putTape } from '../recordings/make.ts'
import { built } from '../support/built.ts'

/** Whom a process of another user is: only root can start one. */
const nobody = 65_534
const isRoot = process.getuid?.() === 0

/** What another user of this machine does, as that user: prints what came of it. */
function asNobody(script: string): Promise<string> {
  const child = spawn('/bin/sh', ['-c', script], { uid: nobody, gid: nobody, stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => (text += part))
  return new Promise((ended) => child.once('close', () => ended(text)))
}

describe('another user of this machine', () => {
  it('sees no address in the arguments of a process, and no file that leads to a page', async () => {
    const folder = scratch()
    putTape(join(folder, 'recordings'), 'inbox/run-1')
    chmodSync(folder, 0o755)
    const programs = join(folder, 'bin')
    mkdirSync(programs)
    // A browser that stays, as browsers do.
    writeFileSync(
      join(programs, 'xdg-open'),
      `#!/bin/sh\necho $$ > ${folder}/pid\necho "$@" > ${folder}/opened.new\nmv ${folder}/opened.new ${folder}/opened\nsleep 600\n`,
    )
    chmodSync(join(programs, 'xdg-open'), 0o755)
    const child = spawn(process.execPath, [built('cli/main.js'), 'open', '--browser'], {
      cwd: folder,
      env: { ...process.env, PATH: `${programs}:${process.env['PATH']}`, TMPDIR: folder },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    onTestFinished(async () => {
      child.kill('SIGTERM')
      await new Promise((ended) => child.once('close', ended))
      expect(existsSync(file)).toBe(false)
      // Whoever ends the command does not wait for the browser, which goes on: there is a group of processes to end.
      process.kill(-Number(readFileSync(join(folder, 'pid'), 'utf8')))
    })
    const url = await new Promise<string>((found) =>
      child.stdout.setEncoding('utf8').on('data', (text: string) => found(text.split(' ')[0] ?? '')),
    )
    while (!existsSync(join(folder, 'opened'))) await setTimeout(20)
    const file = readFileSync(join(folder, 'opened'), 'utf8').trim()
    const { pathname, port } = new URL(url)
    const secret = pathname.split('/')[1] ?? ''
    const [, once = ''] = /url=http:\/\/127\.0\.0\.1:\d+\/([\w-]{32})\//.exec(readFileSync(file, 'utf8')) ?? []
    expect(once).not.toBe(secret)
    const { stdout: seen } = await run('/bin/sh', ['-c', 'cat /proc/[0-9]*/cmdline 2>/dev/null | tr "\\0" " "'])
    expect(seen).toContain(file)
    expect(seen).not.toMatch(new RegExp(`${secret}|${once}`))
    if (!isRoot) return
    const tried = await asNobody(`cat ${file}; cat ${join(file, '..')}/*; ls ${join(file, '..')}`)
    expect(tried).toMatch(/Permission denied/)
    expect(tried).not.toMatch(new RegExp(`${secret}|${once}|http-equiv`))
    expect(
      await asNobody(
        `exec 3<>/dev/tcp/127.0.0.1/${port} 2>&1; cat /proc/${child.pid}/environ /proc/${child.pid}/fd/* 2>&1`,
      ),
    ).not.toContain(secret)
    expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(403)
    expect((await fetch(url)).status).toBe(200)
  })

  it('cannot read a report that was written', async () => {
    const folder = scratch()
    putTape(join(folder, 'recordings'), 'inbox/run-1')
    chmodSync(folder, 0o755)
    expect((await harvest(['report', 'latest', '-o', 'run.html'], { cwd: folder })).code).toBe(0)
    if (isRoot) expect(await asNobody(`cat ${folder}/run.html`)).toMatch(/Permission denied/)
  })
})
