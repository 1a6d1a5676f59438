import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { putTape } from '../recordings/make.ts'
import { scratch, warmHarvest as harvest } from './harvest.ts'

const red = '\x1b[31mred'

test('the name of a tape reaches no terminal raw, whichever command took it away or held it', async () => {
  const cwd = scratch()
  putTape(join(cwd, 'recordings'), 'inbox/plain', { header: { id: 'plain' } })
  const from = join(cwd, 'recordings/inbox/plain.tape.jsonl')
  renameSync(from, join(cwd, `recordings/inbox/${red}.tape.jsonl`))
  for (const [words, said] of [
    [['hold', red, '--reason', 'asked'], 'held'],
    [['prune', '--older-than', '0d', '--retention', 'none'], 'held'],
    [['release', red], 'released'],
    [['prune', '--dry-run', '--older-than', '0d', '--retention', 'none'], 'would remove'],
    [['rm', red, '--yes'], 'removed'],
  ] as const) {
    const { stdout, stderr, code } = await harvest(['tapes', ...words], { cwd })
    expect({ words, code, stdout: stdout.split('  ')[0]!.trim(), stderr }).toEqual({
      words,
      code: 0,
      stdout: `${said} recordings/inbox/\\x1b[31mred.tape.jsonl`,
      stderr: '',
    })
  }
})

test('recordings that are a file are listed as none', async () => {
  const cwd = scratch()
  writeFileSync(join(cwd, 'recordings'), 'a file')
  const { code, stdout } = await harvest(['ls', '--json'], { cwd })
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ tapes: [] })
})

test.skipIf(process.platform === 'win32')('a device is not imported', async () => {
  const cwd = scratch()
  mkdirSync(join(cwd, 'recordings'))
  const { code, stderr } = await harvest(['import', '/dev/zero'], { cwd })
  expect(stderr).toMatch(/Cannot read the file to import[^]*no regular file/)
  expect(code).toBe(2)
})
