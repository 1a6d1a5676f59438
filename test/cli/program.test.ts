import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fromRecorded, toRecorded } from '../../src/cli/program.ts'

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

  it('comes back as it was', () => {
    const argv = toRecorded(['node', 'agent.js', '--order', 'A1'], root)
    expect(fromRecorded({ argv, cwd: '.' }, '')).toEqual({ argv: ['node', 'agent.js', '--order', 'A1'], cwd: root })
  })
})

describe('a command line of a tape from elsewhere', () => {
  it.each([
    ['a shell', ['sh', '-c', 'touch /tmp/x'], '.'],
    ['another program', ['/usr/bin/env', 'node', 'agent.js'], '.'],
    ['code on the command line', ['node', '-e', 'process.exit(9)'], '.'],
    ['a preloaded module', ['node', '--import', 'data:text/javascript,0', 'agent.js'], '.'],
    ['a script outside the project', ['node', '../elsewhere.js'], '.'],
    ['an absolute script', ['node', '/etc/agent.js'], '.'],
    ['a script outside, spelled inside', ['node', 'src/../../elsewhere.js'], '.'],
    ['a folder outside the project', ['node', 'agent.js'], '../..'],
    ['nothing', [], '.'],
    ['no script', ['node'], '.'],
  ])('%s is not run unasked', (_, argv, cwd) => {
    expect(() => fromRecorded({ argv, cwd }, 'harvest replay x')).toThrow(/HARVEST_CLI_PROGRAM_UNASKED/)
  })

  it('the refusal shows it without obeying it, and how to run it all the same', () => {
    expect(() =>
      fromRecorded({ argv: ['sh', '-c', 'clear\u001b[2J'], cwd: '.' }, 'harvest replay x'),
    ).toThrowErrorMatchingInlineSnapshot(`
      [HarvestError: The command line of this tape is not run unasked

        command  sh -c clear\\x1b[2J
        folder   .

      A tape is data and may come from elsewhere: unasked, harvest runs only \`node\` with a script inside this project.
      → if you trust it: harvest replay x -- <the command above>
      (HARVEST_CLI_PROGRAM_UNASKED)]
    `)
  })
})
