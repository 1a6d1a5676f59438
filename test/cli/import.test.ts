import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { TapeIds } from '../../src/recordings/importing/index.ts'
import { columnsOf } from '../../src/report/fold.ts'
import { readTape } from '../../src/tape/index.ts'
import { runSamples } from '../importers/run-samples.ts'
import { samples } from '../importers/samples.ts'
import { current, otlp, otlpSpans } from '../importers/trace-samples.ts'
import { scratch } from './harvest.ts'
import { ask, inProcess } from './in-process.ts'
import { printed } from './printed.ts'

function folderOf(files: Readonly<Record<string, string>>): { readonly cassettes: string; readonly dir: string } {
  const base = scratch()
  for (const [name, text] of Object.entries(files)) {
    const path = join(base, 'cassettes', name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  return { cassettes: join(base, 'cassettes'), dir: join(base, 'recordings') }
}

const inboxOf = (dir: string): readonly string[] => (existsSync(dir) ? readdirSync(join(dir, 'inbox')).sort() : [])

describe('harvest import', () => {
  it('makes a tape of a file, and tells what it is worth', async () => {
    const { cassettes, dir } = folderOf({ 'refund.yaml': samples.vcrpy })
    const file = join(cassettes, 'refund.yaml')
    const { code, out } = await ask('import', file, '--agent', 'refund', '--input', '{"id":"A-17"}', '--dir', dir)
    expect(code).toBe(0)
    expect(out).toMatch(/vcrpy +replayable +1 +1 +1 /)
    expect(out).toContain('missing in it: clock, ids, tools, outcome, order, timings, chunks, encodings')
    const { header, events } = readTape(join(dir, 'inbox', 'refund.tape.jsonl'))
    expect(header).toMatchObject({ id: 'refund', agent: 'refund', input: { id: 'A-17' } })
    expect(events).toHaveLength(1)
  })

  it('looks through a folder, and passes over what is no recording', async () => {
    const { cassettes, dir } = folderOf({
      'a/one.yaml': samples.vcrpy,
      'a/recording.har': samples.har,
      'two.json': samples.nock,
      'package.json': '{"name":"x"}',
      'notes.txt': samples.vcrpy,
      'node_modules/x.yaml': samples.vcrpy,
      '.hidden/x.yaml': samples.vcrpy,
      'broken.yaml': samples.vcrpy.replace('code: 200', 'code: many'),
    })
    symlinkSync(join(cassettes, 'two.json'), join(cassettes, 'link.json'))
    const { code, out, notes } = await ask('import', cassettes, '--dir', dir)
    expect(code).toBe(3)
    expect(out).toContain('3 imported, 1 refused, 1 passed over as no recordings')
    expect(notes).toMatch(
      /broken\.yaml:\d+\s+at interactions\[0\]\.response\.status\.code: it is not an HTTP status \(HARVEST_IMPORT_SHAPE\)/,
    )
    expect(inboxOf(dir)).toEqual(['a-one.tape.jsonl', 'a-recording.tape.jsonl', 'two.tape.jsonl'])
  })

  it('names a recording in a folder that is in no known format, with the nearest one', async () => {
    const frames = 'version: 1\ninteractions:\n- {kind: message, direction: sent, data: {type: x}}\n'
    const { cassettes, dir } = folderOf({ 'one.yaml': samples.vcrpy, 'socket.yaml': frames, 'word.yaml': 'hello' })
    const { code, out, notes } = await ask('import', cassettes, '--dir', dir)
    expect(code).toBe(3)
    expect(out).toContain('1 refused, 1 passed over as no recordings')
    expect(notes).toMatch(
      /socket\.yaml:?\s+no known format: frames of a WebSocket, and no HTTP calls; nearest format vcrpy \(HARVEST_IMPORT_UNKNOWN\)/,
    )
  })

  it('offers a free name where a tape of the same name exists', async () => {
    const { cassettes, dir } = folderOf({ 'the one.yaml': samples.vcrpy, 'two.jsonl': otlp(otlpSpans(current)) })
    const one = join(cassettes, 'the one.yaml')
    await ask('import', cassettes, '--dir', dir)
    await ask('import', one, '--as', 'the-one-2', '--dir', dir)
    const { code, notes } = await ask('import', cassettes, '--dir', dir)
    expect(code).toBe(3)
    const offered = `npx vitest-harvest import '${one}' --as the-one-3`
    expect(notes).toContain(`  to have both: ${offered}\n`)
    expect(notes).toContain(`to have both: npx vitest-harvest import ${join(cassettes, 'two.jsonl')} --as two-2`)
    await ask('import', one, '--as', 'the-one-3', '--dir', dir)
    expect(inboxOf(dir)).toContain('the-one-3.tape.jsonl')
  })

  it('offers another folder for a file of several runs, whose tapes have names of their own', async () => {
    const two = otlp([...otlpSpans(current), ...otlpSpans(current, 'ff'.repeat(16))])
    const { cassettes, dir } = folderOf({ 'desk.jsonl': two })
    await ask('import', cassettes, '--dir', dir)
    const { notes } = await ask('import', cassettes, '--dir', dir)
    expect(notes).toContain(`npx vitest-harvest import ${join(cassettes, 'desk.jsonl')} --dir recordings/again`)
  })

  it('looks into files without an ending for logs of MCP servers', async () => {
    const { cassettes, dir } = folderOf({
      'orders-serverstdio': runSamples['mcp-log'],
      'uvrunserver.py': runSamples['mcp-log'],
      'server.py': 'print("STDIN: {")\n',
      LICENSE: 'a licence',
    })
    const { code, out } = await ask('import', cassettes, '--dir', dir)
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('2 imported') as string })
    expect(out).not.toContain('passed over')
    expect(inboxOf(dir)).toEqual(['orders-serverstdio.tape.jsonl', 'uvrunserver.py.tape.jsonl'])
  })

  it('prints no line of more than 100 columns, however long the names are', async () => {
    const long = `${'deeply/nested/'.repeat(3)}test_${'a_long_name_'.repeat(9)}`
    const { cassettes, dir } = folderOf({
      [`${long}.yaml`]: samples.vcrpy,
      [`${long}[claude].json`]: samples.nock,
      '顧客対応エージェントの録音記録とその評価結果について.json': samples.aimock,
    })
    const { out } = await ask('import', cassettes, '--dir', dir)
    const rows = out.slice(0, out.indexOf('\n\n')).split('\n')
    expect(rows).toHaveLength(7)
    expect(rows.filter((row) => columnsOf(row) > 100)).toEqual([])
    for (const name of inboxOf(dir)) expect(rows).toContain(`  as ${name.replace('.tape.jsonl', '')}`)
  })

  it('says of traces without content what to set, once for all that lack it alike', async () => {
    const attributes = { 'ai.operationId': 'ai.generateText.doGenerate', 'ai.model.id': 'gpt-5' }
    const trace = JSON.stringify([{ name: 'ai', traceId: 'a', spanId: 'b', attributes }])
    const { cassettes, dir } = folderOf({ 'one.json': trace, 'two.json': trace, 'three.yaml': samples.vcrpy })
    const { out } = await ask('import', cassettes, '--dir', dir)
    expect(out).toContain(
      'no content of model calls in one and 1 more; to capture:\n' +
        '  AI SDK: set experimental_telemetry: { isEnabled: true, recordInputs: true, recordOutputs: true }\n',
    )
  })

  it('overwrites nothing, and leaves nothing half-made', async () => {
    const { cassettes, dir } = folderOf({ 'one.yaml': samples.vcrpy })
    await ask('import', join(cassettes, 'one.yaml'), '--dir', dir)
    const before = readFileSync(join(dir, 'inbox', 'one.tape.jsonl'))
    writeFileSync(join(cassettes, 'one.yaml'), samples['ruby-vcr'])
    const again = await inProcess(['import', join(cassettes, 'one.yaml'), '--dir', dir])
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('HARVEST_IMPORT_EXISTS') as string })
    expect(again.stderr).toContain(join(cassettes, 'one.yaml'))
    expect(again.stderr).toContain('npx vitest-harvest tapes rm one')
    expect(readFileSync(join(dir, 'inbox', 'one.tape.jsonl'))).toEqual(before)
    const other = await ask('import', join(cassettes, 'one.yaml'), '--as', 'two', '--dir', dir)
    expect(other.code).toBe(0)
    expect(inboxOf(dir)).toEqual(['one.tape.jsonl', 'two.tape.jsonl'])
  })

  it('a recording of Polly.JS is named after itself, for its files are all called the same', async () => {
    const { cassettes, dir } = folderOf({ 'recording.har': samples.har })
    await ask('import', join(cassettes, 'recording.har'), '--dir', dir)
    expect(inboxOf(dir)).toEqual(['refund-desk.tape.jsonl'])
  })

  it('makes a tape of each trace in a file, and refuses one id for several', async () => {
    const two = otlp([...otlpSpans(current), ...otlpSpans(current, 'ff'.repeat(16))])
    const { cassettes, dir } = folderOf({ 'desk.jsonl': two })
    const file = join(cassettes, 'desk.jsonl')
    await expect(ask('import', file, '--as', 'desk', '--dir', dir)).rejects.toThrow('HARVEST_IMPORT_SEVERAL')
    expect(inboxOf(dir)).toEqual([])
    const { code, out } = await ask('import', file, '--dir', dir)
    expect(code).toBe(0)
    expect(out).toContain('2 imported, 0 refused')
    expect(inboxOf(dir)).toEqual([
      'desk-a1b2c3d4e5f60718293a4b5c6d7e8f90.tape.jsonl',
      `desk-${'ff'.repeat(16)}.tape.jsonl`,
    ])
  })

  it('makes all tapes of a file that holds several runs, or none of them', async () => {
    const two = otlp([...otlpSpans(current), ...otlpSpans(current, 'ff'.repeat(16))])
    const { cassettes, dir } = folderOf({ 'desk.jsonl': two, 'other.yaml': samples.vcrpy })
    const taken = join(dir, 'inbox', `desk-${'ff'.repeat(16)}.tape.jsonl`)
    mkdirSync(dirname(taken), { recursive: true })
    writeFileSync(taken, 'theirs')
    const one = await inProcess(['import', join(cassettes, 'desk.jsonl'), '--dir', dir])
    expect(one).toMatchObject({ code: 2, stderr: expect.stringContaining(taken) as string })
    expect(inboxOf(dir)).toEqual([basename(taken)])
    const all = await ask('import', cassettes, '--dir', dir)
    expect(all.code).toBe(3)
    expect(all.out).toContain('1 imported, 1 refused')
    expect(inboxOf(dir)).toEqual([basename(taken), 'other.tape.jsonl'])
    rmSync(taken)
    expect(await ask('import', join(cassettes, 'desk.jsonl'), '--dir', dir)).toMatchObject({ code: 0 })
    expect(inboxOf(dir)).toHaveLength(3)
  })

  it('--redact applies the rules of the application, from JSON or from a tape, and keeps them', async () => {
    const { cassettes, dir } = folderOf({
      'one.yaml': samples.vcrpy,
      'rules.json': '{"keys":["model"],"rules":[{"kind":"order","pattern":"a-\\\\d+","flags":"gi"}]}',
      'typo.json': '{"key":["model"]}',
      'endless.json': '{"rules":[{"kind":"order","pattern":"x","flags":""}]}',
    })
    const one = join(cassettes, 'one.yaml')
    const redacted = async (rules: string, as: string) => {
      expect(await ask('import', one, '--as', as, '--redact', rules, '--dir', dir)).toMatchObject({ code: 0 })
      return join(dir, 'inbox', `${as}.tape.jsonl`)
    }
    const first = await redacted(join(cassettes, 'rules.json'), 'first')
    const second = await redacted(first, 'second')
    for (const tape of [first, second]) {
      expect(readFileSync(tape, 'utf8')).not.toMatch(/A-17|gpt-5"/)
      expect(readFileSync(tape, 'utf8')).toContain('redacted-order-1')
      expect(readTape(tape).header.redact).toEqual({
        keys: ['model'],
        rules: [{ kind: 'order', pattern: 'a-\\d+', flags: 'gi' }],
      })
    }
    const plain = join(dir, 'inbox', 'plain.tape.jsonl')
    await ask('import', one, '--as', 'plain', '--dir', dir)
    const refusals = [
      [join(cassettes, 'typo.json'), 'key is not one of keys, headers, off, on, keep, allow, rules'],
      [join(cassettes, 'endless.json'), 'HARVEST_PRIVACY_OPTION'],
      [join(cassettes, 'none.json'), 'it cannot be read (ENOENT)'],
      [one, 'it is not JSON'],
      [plain, 'had no rules of its own'],
    ] as const
    for (const [file, problem] of refusals) {
      const { code, stderr } = await inProcess(['import', one, '--as', 'no', '--redact', file, '--dir', dir])
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(problem) as string })
    }
    expect(inboxOf(dir)).not.toContain('no.tape.jsonl')
  })

  it('--json tells programs the same', async () => {
    const { cassettes, dir } = folderOf({ 'one.json': samples.aimock, 'two.json': '[1,' })
    const { code, out } = await ask('import', cassettes, '--dir', dir, '--json')
    expect(code).toBe(3)
    expect(JSON.parse(out)).toMatchObject({
      imported: [{ id: 'one', format: 'aimock', grade: 'signature-only', tools: ['lookup_order'] }],
      refused: [{ code: 'HARVEST_IMPORT_SYNTAX' }],
      passedOver: 0,
    })
  })

  it.each([
    [['nowhere.yaml'], 'HARVEST_IMPORT_MISSING', 2],
    [['cassettes', '--as', 'x'], '--as is about one tape', 2],
    [['cassettes/one.yaml', '--as', '../x'], '--as becomes a file name', 2],
    [['cassettes/one.yaml', '--format', 'vcrp'], 'did you mean: --format vcrpy', 2],
    [['cassettes/one.yaml', '--input', 'Ada'], 'Invalid JSON in --input', 2],
    [['empty'], 'HARVEST_IMPORT_NONE', 2],
    [['cassettes/other.json'], 'HARVEST_IMPORT_UNKNOWN', 3],
  ] as const)('%j is refused', async ([path, ...options], said, code) => {
    const { cassettes, dir } = folderOf({ 'one.yaml': samples.vcrpy, 'other.json': '{}' })
    mkdirSync(join(cassettes, '../empty'))
    const answer = await inProcess(['import', join(cassettes, '..', path), ...options, '--dir', dir])
    expect(answer).toMatchObject({ code, stderr: expect.stringContaining(said) as string })
    expect(inboxOf(dir)).toEqual([])
  })

  it('harvest show says that a tape is imported, and what it lacks', async () => {
    const { cassettes, dir } = folderOf({ 'one.yaml': samples.vcrpy })
    await ask('import', join(cassettes, 'one.yaml'), '--dir', dir)
    const { out } = await ask('show', join(dir, 'inbox', 'one.tape.jsonl'))
    expect(out).toMatch(/recorded +2026-03-04T05:06:07\.000Z\n/)
    expect(out).toMatch(/imported +from vcrpy, replayable\nmissing +clock, ids/)
  })

  it('a tape that cannot be replayed is not promoted, and none is verified', async () => {
    const { cassettes, dir } = folderOf({ 'one.json': samples.aimock, 'two.yaml': samples.vcrpy })
    await ask('import', cassettes, '--dir', dir)
    const [one, two] = ['one', 'two'].map((id) => join(dir, 'inbox', `${id}.tape.jsonl`))
    const promoted = await inProcess(['promote', one!, '--as', 'case', '--unverified', '--dir', dir])
    const verified = await inProcess(['verify', two!, '--agent', './x.ts#x'])
    expect([promoted.stderr, verified.stderr]).toEqual([
      expect.stringContaining('HARVEST_TAPE_GRADE'),
      expect.stringContaining('HARVEST_TAPE_GRADE'),
    ])
    expect(existsSync(join(dir, 'golden'))).toBe(false)
  })
})

describe('a tape that cannot be replayed', () => {
  const paid = ['--ok', 'lookup_order(*)', '--any-name', '--live']
  it.each([
    [['blame', 'one', ...paid]],
    [['blame', 'one', '--isolate', ...paid]],
    [['fork', 'one', '--step', '1', '--live']],
    [['fork', 'one', '--step', '1', '--continue-with', 'desk', '--live']],
    [['fork', 'one', '--critical', '--live']],
    [['chaos', 'one']],
    [['patch', 'one', '--step', '1', '--set', 'response.x=1']],
    [['rerun', 'one']],
    [['rerun', 'one', '--live']],
    [['fix', 'one', '--live']],
    [['debug', 'one', '-x', 'what_if 1 "No."']],
  ])('is refused for that before anything else: %j', async (words) => {
    const { cassettes, dir } = folderOf({ 'one.json': samples.aimock })
    await ask('import', cassettes, '--dir', dir)
    const { code, stdout, stderr } = await inProcess([...words, '--dir', dir])
    const said = stdout + stderr
    expect({ code, said }).toMatchObject({
      code: 2,
      said: expect.stringMatching(/^(HarvestError: )?A signature-only tape cannot be replayed$/m) as string,
    })
    // What helps is no form of this command.
    const steps = said.split('\n').filter((line) => line.startsWith('→'))
    expect(steps).toEqual([
      expect.stringContaining('record the run again: '),
      '→ to see what it holds: npx vitest-harvest show one',
    ])
    expect((await inProcess([...printed(said, 'to see what it holds'), '--dir', dir])).code).toBe(0)
  })
})

describe('ids made of names', () => {
  it('are slugs, given once, and told apart when they are cut', () => {
    const ids = new TapeIds()
    const long = 'x'.repeat(200)
    expect(['A b/[c] @d', 'a-b-c-d', '___'].map((text) => ids.of(text))).toEqual([
      'a-b-c-d',
      'a-b-c-d-2',
      expect.stringMatching(/^recording-[0-9a-f]{8}$/),
    ])
    expect(ids.of(`${long}1`)).not.toBe(ids.of(`${long}2`))
    expect(ids.of(`${long}1`).length).toBeLessThanOrEqual(83)
  })
})

it('a recording whose name, or the name of whose file, holds a secret is given an id without it', async () => {
  const key = `ghp_${'a1B2c3D4'.repeat(4)}e5F6`
  const named = samples.har.replace('refund desk', `card 4111 1111 1111 1111 ${key}`)
  const { cassettes, dir } = folderOf({ 'anna@shop.example.yaml': samples.vcrpy, 'recording.har': named })
  const { code } = await ask('import', cassettes, '--agent', 'refund', '--dir', dir)
  expect(code).toBe(0)
  const made = inboxOf(dir).join(' ')
  expect(made).toContain('redacted-1-email.invalid.tape.jsonl')
  expect(made).not.toMatch(/anna|4111|ghp/i)
})
