import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { call, exchange, put, putTape } from '../recordings/make.ts'
import { harvest, scratch } from './harvest.ts'
import { ask, inProcess } from './in-process.ts'

const events = [
  { ...call(1, 'lookup_order', { id: 'A-17' }), result: { total: 25 } },
  exchange(30, '{"model":"gpt-5","messages":[{"role":"user","content":"Refund A-17."}]}', ['{"choices":[]}']),
]

function recordings(): { readonly dir: string; readonly out: string } {
  const base = scratch()
  const dir = join(base, 'recordings')
  putTape(dir, 'inbox/one', { header: { id: 'one' }, events })
  putTape(dir, 'inbox/two', { header: { id: 'two' }, events, close: null })
  return { dir, out: join(base, 'out') }
}

describe('harvest export', () => {
  it('writes the export to stdout, and what is to be known of it to stderr', async () => {
    const { dir } = recordings()
    const { code, stdout, stderr } = await harvest(['export', 'one', '--format', 'har', '--dir', dir])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ log: { version: '1.2', entries: [{ request: { method: 'POST' } }] } })
    expect(stderr).toContain('one: left out, the format cannot hold it: 1 tool call')
  })

  it('a file holds the same as stdout', async () => {
    const { dir, out } = recordings()
    const file = join(out, 'one.jsonl')
    const written = await ask('export', 'one', '--format', 'otlp', '--dir', dir, '--out', file)
    const { stdout } = await harvest(['export', 'one', '--format', 'otlp', '--dir', dir])
    expect(written).toMatchObject({
      code: 0,
      out: '',
      notes: expect.stringContaining(`exported one to ${file}`) as string,
    })
    expect(readFileSync(file, 'utf8')).toBe(stdout)
  })

  it('a folder gets a file of each tape, named after the file of the tape', async () => {
    const { dir, out } = recordings()
    putTape(dir, 'inbox/three', { header: { id: '../../escaped' }, events })
    await ask(
      'export',
      'one',
      join(dir, 'inbox/three.tape.jsonl'),
      '--format',
      'json',
      '--dir',
      dir,
      '--out',
      `${out}/`,
    )
    await ask('export', 'one', '--format', 'har', '--dir', dir, '--out', out)
    expect(readdirSync(out).sort()).toEqual(['one.har', 'one.trace.json', 'three.trace.json'])
  })

  it('several tapes are several traces of one OTLP file', async () => {
    const { dir, out } = recordings()
    const file = join(out, 'all.jsonl')
    const { notes } = await ask('export', 'one', 'two', '--format', 'otlp', '--dir', dir, '--out', file)
    const traces = [...readFileSync(file, 'utf8').matchAll(/"traceId":"(\w+)"/g)].map(([, id]) => id)
    expect(new Set(traces).size).toBe(2)
    expect(notes).toContain('two: the tape is truncated')
  })

  it('overwrites nothing without --force', async () => {
    const { dir, out } = recordings()
    const file = join(out, 'one.har')
    mkdirSync(out, { recursive: true })
    writeFileSync(file, 'mine')
    const line = ['export', 'one', '--format', 'har', '--dir', dir, '--out', file]
    expect(await inProcess(line)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('HARVEST_EXPORT_EXISTS') as string,
    })
    expect(readFileSync(file, 'utf8')).toBe('mine')
    expect(await inProcess([...line, '--force'])).toMatchObject({ code: 0 })
    expect(JSON.parse(readFileSync(file, 'utf8'))).toHaveProperty('log')
    expect(readdirSync(out)).toEqual(['one.har'])
  })

  it('never writes through a link', async () => {
    const { dir, out } = recordings()
    mkdirSync(out, { recursive: true })
    writeFileSync(join(out, 'other'), 'mine')
    symlinkSync(join(out, 'other'), join(out, 'one.har'))
    const line = ['export', 'one', '--format', 'har', '--dir', dir, '--out', join(out, 'one.har'), '--force']
    expect(await inProcess(line)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('HARVEST_RECORDINGS_LINK') as string,
    })
    expect(readFileSync(join(out, 'other'), 'utf8')).toBe('mine')
  })

  it('a damaged tape is refused, and leaves no file', async () => {
    const { dir, out } = recordings()
    const path = putTape(dir, 'inbox/bad', { events })
    put(dir, 'inbox/bad.tape.jsonl', readFileSync(path, 'utf8').replace('"total":25', '"total":2500'))
    const answer = await inProcess(['export', path, '--format', 'json', '--dir', dir, '--out', `${out}/`])
    expect(answer).toMatchObject({ code: 3, stderr: expect.stringContaining('HARVEST_TAPE_TAMPERED') as string })
    expect(existsSync(out) ? readdirSync(out) : []).toEqual([])
  })

  it('--no-content leaves out what was said', async () => {
    const { dir, out } = recordings()
    for (const format of ['otlp', 'har', 'json'])
      await ask('export', 'one', '--format', format, '--dir', dir, '--out', `${out}/`, '--no-content')
    const texts = readdirSync(out).map((name) => readFileSync(join(out, name), 'utf8'))
    expect(texts).toHaveLength(3)
    for (const text of texts) expect(text).not.toMatch(/A-17/)
  })

  it('--json tells programs what was written where', async () => {
    const { dir, out } = recordings()
    const { out: said } = await ask('export', 'two', '--format', 'har', '--dir', dir, '--out', `${out}/`, '--json')
    expect(JSON.parse(said)).toEqual({
      format: 'har',
      exported: [
        {
          tape: join(dir, 'inbox/two.tape.jsonl'),
          id: 'two',
          file: join(out, 'two.har'),
          leftOut: expect.arrayContaining(['1 tool call']) as string[],
          notes: ['the tape is truncated: the run is exported as far as it was recorded'],
        },
      ],
    })
  })

  it.each([
    [['one'], '--format is needed'],
    [['one', '--format', 'ottlp'], 'did you mean: --format otlp'],
    [['one', '--format', 'json', '--json'], '--json says where the exports went'],
    [['one', '--format', 'json', '--force'], '--force is about files'],
    [['one', 'two', '--format', 'har'], 'a file of har holds one run'],
    [['one', 'one', '--format', 'har', '--out', 'out/'], 'two of these tapes would be'],
    [['nowhere', '--format', 'har'], 'HARVEST_TAPE_MISSING'],
    [['one', '--format', 'har', '--content'], "Unknown option '--content' of export"],
  ] as const)('%j is refused', async (args, said) => {
    const { dir } = recordings()
    const answer = await inProcess(['export', ...args, '--dir', dir])
    expect(answer).toMatchObject({ code: 2, stderr: expect.stringContaining(said) as string })
    expect(existsSync('out')).toBe(false)
  })
})
