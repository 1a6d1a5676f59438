import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { toRecorded } from '../../src/jobs/program.ts'

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
