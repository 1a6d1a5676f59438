import { describe, expect, it } from 'vitest'
import { addLive, addTools } from '../../src/cli/debug/fork-lines.ts'
import { asCalls } from '../../src/cli/debug/mcp-steps.ts'
import { parse } from '../../src/cli/parse.ts'
import { specs } from '../../src/cli/spec/index.ts'
import { asTyped } from '../../src/cli/typed-again.ts'

/** A next step as the server prints it that was started with these options. */
function steps(step: string, ...options: readonly string[]): readonly string[] {
  const typed = ['debug', '--mcp', ...options]
  const parsed = parse(typed, specs)
  if (parsed.kind !== 'run') throw new Error('help was printed')
  return asTyped(typed, () => asCalls(step, parsed.given))
}
const server = 'start the server with npx vitest-harvest debug --mcp'

describe('a next step, for a coding agent', () => {
  it('asks models by the call where the server may, and else starts one that may', () => {
    const step = `to ask it: ${addLive}`
    const otherwise = 'if it may call otherwise, with tools run for real: '
    expect(steps(step, '--live')).toEqual([
      'to ask it: the same call with live: true',
      `${otherwise}${server} --live --max-cost 1 --tools live`,
    ])
    expect(steps(step, '--live', '--max-calls', '5', '--tools', 'live')).toEqual([
      'to ask it: the same call with live: true',
    ])
    expect(steps(step)).toEqual([
      `to ask it: ${server} --live --max-cost 1`,
      `${otherwise}${server} --live --max-cost 1 --tools live`,
    ])
    expect(steps(`to run tools for real: ${addTools}`, '--live')).toEqual([
      `to run tools for real: ${server} --live --tools live`,
    ])
  })

  it('is a call in the place of a line, and what the line allows is for the server to allow', () => {
    const line = `did you mean: what_if 3 'result.note="a b"'`
    const args = String.raw`{"step":3,"changes":["result.note=\"a b\""]`
    expect(steps(line)).toEqual([`did you mean: what_if ${args}}`])
    expect(steps(`${line} --live`, '--live')).toEqual([`did you mean: what_if ${args},"live":true}`])
    expect(steps(`to continue anyway: what_if 3 a --live --cross-version`, '--live')).toEqual([
      `to continue anyway: ${server} --live --cross-version`,
    ])
    // Neither the call nor the server has it.
    expect(steps('to allow it: what_if 3 a --any-name')).toEqual([])
  })

  it('names an agent where the tape is opened, and begins an ended call again', () => {
    const debug = `npx vitest-harvest debug 'my tape'`
    expect(steps(`to name it: ${debug} --module ./a.ts#agent`)).toEqual([
      'to name it: open_tape {"tape":"my tape","agent":"./a.ts#agent"}',
    ])
    expect(steps(`to leave room: npx vitest-harvest debug --mcp --agent a`)).toEqual([
      'to leave room: npx vitest-harvest debug --mcp --agent a',
    ])
    expect(steps('to go on: the same line, without --no-cache')).toEqual(['to go on: the same call'])
    expect(steps('to see it: npx vitest-harvest show a')).toEqual(['to see it: npx vitest-harvest show a'])
  })
})
