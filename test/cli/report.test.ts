import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { diffJson } from '../../src/report/diff/json.ts'
import type { GoldenData, ReportData } from '../../src/report/view/types.ts'
import { keepAnswer } from '../../src/recordings/index.ts'
import { branchFlag, readTape, serializeTape } from '../../src/tape/index.ts'
import { putTape, scratch } from '../recordings/make.ts'
import { deskBlame, deskEvents, deskTape, opened } from '../report/desk.ts'
import { inProcess } from './in-process.ts'

function recordings(): { readonly dir: string; readonly out: string; readonly bad: string } {
  const dir = scratch()
  const bad = putTape(dir, 'inbox/desk-bad', {
    header: { id: 'desk-bad', agent: 'desk' },
    events: deskEvents(),
    close: { outcome: { status: 'returned', value: { refunded: 2500 } } },
  })
  putTape(dir, 'inbox/desk-good', {
    header: { id: 'desk-good', agent: 'desk' },
    events: deskEvents({ isBad: false }),
    close: { outcome: { status: 'returned', value: { refunded: 25 } } },
  })
  return { dir, out: join(dir, '..', 'run.html'), bad }
}

describe('harvest report', () => {
  it('writes one file for the owner alone, and says how many steps and bytes it has', async () => {
    const { dir, out } = recordings()
    const { code, stdout, stderr } = await inProcess(['report', 'desk-bad', '-o', out, '--dir', dir])
    expect(code).toBe(0)
    expect(stdout).toMatch(/run\.html {2}10 steps, \d+\.\d kB, opens in any browser$/)
    expect(stderr).toMatch(/^desk-bad: this file holds all that the tape holds; no pattern of a secret/)
    expect(readFileSync(out, 'utf8')).toMatch(/^<!doctype html>/)
    expect(statSync(out).mode & 0o077).toBe(0)
  })

  it('names what looks like personal data before it leaves the inbox, and what kind it is', async () => {
    const { dir, out } = recordings()
    putTape(dir, 'inbox/mail', {
      header: { id: 'mail', input: { from: 'erika.mustermann@shop-kunde.de', text: 'call +49 151 23456789' } },
      events: [],
    })
    const { stderr } = await inProcess(['report', 'mail', '-o', out, '--dir', dir])
    expect(stderr).toMatch(
      /^mail: this file holds all that the tape holds, and that looks like secrets or personal data: .*email in 1 place/,
    )
    expect(readFileSync(out, 'utf8')).toContain('erika.mustermann@shop-kunde.de')
  })

  it('replaces a report, and no other file unless it is told to', async () => {
    const { dir, out } = recordings()
    const write = (...more: string[]) => inProcess(['report', 'desk-bad', '-o', out, '--dir', dir, ...more])
    expect((await write()).code).toBe(0)
    expect((await write()).code).toBe(0)
    writeFileSync(out, '<html>mine</html>')
    expect(await write()).toMatchObject({ code: 2, stderr: expect.stringContaining('HARVEST_EXPORT_EXISTS') as string })
    expect(readFileSync(out, 'utf8')).toBe('<html>mine</html>')
    expect((await write('--force')).code).toBe(0)
  })

  it('--json prints the view model, with the comparison that `diff --json` prints', async () => {
    const { dir, bad } = recordings()
    const { stdout } = await inProcess(['report', 'desk-bad', '--against', 'desk-good', '--json', '--dir', dir])
    const data = JSON.parse(stdout) as ReportData
    const other = await inProcess(['diff', 'desk-bad', 'desk-good', '--json', '--dir', dir])
    expect(data.diff).toEqual(JSON.parse(other.stdout))
    expect(data.diff).toMatchObject({ parts: diffJson(opened(deskTape()), opened(deskTape(false))).parts ?? {} })
    expect(data.run).toMatchObject({ id: 'desk-bad', truncated: false, digest: readTape(bad).digest })
    const shown = JSON.parse((await inProcess(['show', 'desk-bad', '--json', '--dir', dir])).stdout) as {
      steps: { number: number; name: string; costUsd?: number }[]
      spending: object
    }
    expect(data.run.steps.map(({ no, name, cost }) => [no, name, cost])).toEqual(
      shown.steps.map(({ number, name, costUsd }) => [number, name, costUsd]),
    )
    expect(data.run.spending).toEqual(shown.spending)
  })

  it('takes in what blame and fork answered of this very tape, and leaves out what is of another', async () => {
    const { dir, bad } = recordings()
    const tape = readTape(bad)
    const at = '2026-03-04T05:06:07.000Z'
    keepAnswer(dir, { ...tape, digest: 'another' }, 'blame', { at, key: 'blame', answer: { recorded: 'ok' } })
    const read = async () =>
      JSON.parse((await inProcess(['report', 'desk-bad', '--json', '--dir', dir])).stdout) as ReportData
    expect(await read()).not.toHaveProperty('blame')
    keepAnswer(dir, tape, 'blame', { at, key: 'blame', answer: JSON.parse(JSON.stringify(deskBlame)) })
    expect((await read()).blame).toEqual(deskBlame)
    expect(await read()).not.toHaveProperty('forks')
  })

  it('what was typed for a fork is kept without its secrets, and shown so', async () => {
    const { dir, bad } = recordings()
    const secret = 'tr33h0use4711Zq'
    const changed = [{ where: 'step 2, result', before: '"x"', after: JSON.stringify(`password=${secret}`) }]
    const answer = {
      keep: 2,
      tail: { from: 'tape' },
      changed,
      gradedBy: null,
      judged: 0,
      asRecorded: null,
      branches: [],
    }
    keepAnswer(dir, readTape(bad), 'fork', { at: '2026-03-04T05:06:07.000Z', key: JSON.stringify(changed), answer })
    const kept = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((one) => one.name === 'fork.json')
    expect(kept).toHaveLength(1)
    const text = readFileSync(join(kept[0]!.parentPath, 'fork.json'), 'utf8')
    expect(text).not.toContain(secret)
    const { forks } = JSON.parse((await inProcess(['report', 'desk-bad', '--json', '--dir', dir])).stdout) as ReportData
    expect(JSON.stringify(forks)).toContain('password=redacted-')
  })

  it('shows the branches that were saved of a tape, with where they part and how they end', async () => {
    const { dir, bad } = recordings()
    const parent = readTape(bad)
    const own = deskEvents({ isBad: false }).filter(({ n }) => n >= 60)
    const branch = serializeTape(
      {
        ...parent.header,
        id: 'desk-branch',
        flags: [...parent.header.flags, branchFlag],
        parent: { id: 'desk-bad', file: 'desk-bad.tape.jsonl', digest: parent.digest, events: 9, before: 60, keep: 6 },
      },
      own,
      { ...parent.close!, outcome: { status: 'returned', value: { refunded: 25 } } },
    )
    writeFileSync(join(dir, 'inbox', 'desk-branch.tape.jsonl'), branch)
    const { stdout } = await inProcess(['report', 'desk-bad', '--json', '--dir', dir])
    const { forks, texts } = JSON.parse(stdout) as ReportData
    expect(forks).toMatchObject({ keep: 6, judged: 1, asRecorded: 0, gradedBy: null })
    expect(texts[forks?.branches[0]?.outcome ?? -1]).toBe('returned {"refunded":25}')
    expect(forks?.branches[0]?.first?.step).toBe(7)
  })

  it('reports a truncated tape as one, and refuses a damaged one', async () => {
    const { dir, out } = recordings()
    putTape(dir, 'inbox/cut', { header: { id: 'cut' }, events: deskEvents().slice(0, 3), close: null })
    expect((await inProcess(['report', 'cut', '-o', out, '--dir', dir])).code).toBe(0)
    expect(readFileSync(out, 'utf8')).toContain('"truncated":true')
    const broken = putTape(dir, 'inbox/broken', { header: { id: 'broken' }, events: deskEvents() })
    writeFileSync(broken, readFileSync(broken, 'utf8').replace('gpt-5-mini', 'gpt-6-mini'))
    expect((await inProcess(['report', broken, '-o', out, '--dir', dir])).code).toBe(3)
  })

  it('refuses what makes no sense together', async () => {
    const { dir } = recordings()
    const codes = await Promise.all(
      [
        ['report'],
        ['report', 'desk-bad', '--golden'],
        ['report', '--golden', '--replay'],
        ['report', 'desk-bad', '--results', 'x'],
      ].map(async (argv) => (await inProcess([...argv, '--dir', dir])).code),
    )
    expect(codes).toEqual([2, 2, 2, 2])
  })

  it('--golden shows every case, with results from the JSON of Vitest and nothing where there are none', async () => {
    const { dir, out } = recordings()
    const results = join(dir, 'results.json')
    const meta = {
      harvest: { case: 'refund-broken-item', expect: 'pass', drift: { instructions: 1 }, code: 'HARVEST_UNPROVEN' },
    }
    mkdirSync(dir, { recursive: true })
    const report = (startTime: number, status: string) =>
      JSON.stringify({
        startTime,
        testResults: [{ assertionResults: [{ status, duration: 12, failureMessages: ['Unproven\nmore'], meta }] }],
      })
    writeFileSync(results, report(2, 'failed'))
    writeFileSync(`${results}.old`, report(1, 'passed'))
    const read = async (...more: string[]) =>
      JSON.parse(
        (await inProcess(['report', '--golden', '--json', '--dir', 'recordings', ...more])).stdout,
      ) as GoldenData
    const find = (data: GoldenData) => data.cases.find(({ id }) => id.endsWith('refund-broken-item'))
    expect(find(await read('--results', results, '--results', `${results}.old`))).toMatchObject({
      state: 'unproven',
      why: 'Unproven',
      drift: { instructions: 1 },
      runs: 'gu',
      ms: 12,
    })
    expect(find(await read())).toMatchObject({ state: 'not run', runs: '', drift: {} })
    expect((await inProcess(['report', '--golden', '-o', out, '--dir', dir])).stdout).toContain('0 cases')
    expect(existsSync(out)).toBe(true)
    expect((await inProcess(['report', '--golden', '--results', out, '--dir', dir])).code).toBe(2)
  })
})
