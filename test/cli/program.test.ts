import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { outputOf, toRecorded } from '../../src/jobs/program.ts'

const root = resolve('.')

describe('a command line on its way into a tape', () => {
  it('loses every path of this machine', () => {
    const folder = resolve(root, 'packages/agent')
    const argv = [
      process.execPath,
      resolve(folder, 'agent.js'),
      `--config=${resolve(folder, 'x.json')}`,
      '--order',
      'A1',
    ]
    expect(toRecorded(argv, folder)).toEqual(['node', 'agent.js', '--config=x.json', '--order', 'A1'])
  })
})

describe('what a program wrote, in the text of an error', () => {
  it('has no colours, no cursor moves and no commands of a CI runner, and is its last lines', () => {
    const stderr = '\u001b[31mError\u001b[39m: no such \u001b[1mfile\u001b[22m\r\n::error::red\u001b[2J\n'
    expect(outputOf({ stderr })).toBe('Error: no such file\n\\x3a:error::red')
    const stdout = Array.from({ length: 40 }, (_, i) => `line ${i}`).join('\n')
    expect(outputOf({ stdout, stderr: 'last' }).split('\n')).toHaveLength(25)
  })
})
