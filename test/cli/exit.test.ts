import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { specs } from '../../src/cli/spec/index.ts'
import { exit, exitCodeOf } from '../../src/cli/exit.ts'
import { type ErrorCode, HarvestError } from '../../src/errors/index.ts'

const commands = specs

const sources = globSync('src/**/*.ts').map((file) => readFileSync(file, 'utf8'))

describe('exit codes', () => {
  const codes = [
    ...new Set(sources.flatMap((text) => [...text.matchAll(/'(HARVEST_[A-Z_]*[A-Z])'/g)].map(([, code = '']) => code))),
  ].filter((code) => !code.startsWith('HARVEST_ALLOW_'))

  it('every error code of the package has one', () => {
    expect(codes.length).toBeGreaterThan(60)
    const unknown = codes.filter(
      (code) => exitCodeOf(new HarvestError(code as ErrorCode, { what: 'x' })) === exit.internal,
    )
    expect(unknown).toEqual([])
  })

  it.each([
    ['HARVEST_DIVERGENCE', 1],
    ['HARVEST_TAPE_EXHAUSTED', 1],
    ['HARVEST_CLI_OPTION', 2],
    ['HARVEST_TAPE_MISSING', 2],
    ['HARVEST_TAPE_TAMPERED', 3],
    ['HARVEST_TAPE_TRUNCATED', 3],
    ['HARVEST_CROSS_VERSION', 4],
  ] as const)('%s is %i', (code, expected) => {
    expect(exitCodeOf(new HarvestError(code, { what: 'x' }))).toBe(expected)
  })

  it('what is no error of ours is 101', () => {
    expect(exitCodeOf(new TypeError('x'))).toBe(101)
  })
})

describe('advice', () => {
  it('names only commands and options that exist', () => {
    const advised = sources.flatMap((text) => [
      ...text.matchAll(/\bnpx vitest-harvest ([a-z]+(?: (?:rm|prune|hold|release|demote))?)\b([^\n'"`]*)/g),
    ])
    const known = new Map(commands.map(({ name, options }) => [name, options.map(({ flag }) => flag.split(' ', 1)[0])]))
    expect(advised.length).toBeGreaterThan(50)
    const wrong = advised.filter(([, name = '', rest = '']) => {
      const options = [...rest.split(' -- ', 1)[0]!.matchAll(/--[a-z][a-z-]*/g)].map(([option]) => option)
      return !known.has(name) || (name !== 'test' && options.some((option) => !known.get(name)!.includes(option)))
    })
    expect(wrong.map(([line]) => line)).toEqual([])
  })
})
