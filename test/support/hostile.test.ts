import { describe, expect, it } from 'vitest'
import { neutral, neutralLine } from '../../src/errors/index.ts'
import { findsHostile, hostilePayloads } from './hostile.ts'

const classes = Map.groupBy(hostilePayloads, (payload) => payload.class)
/** Classes that are dangerous wherever they are printed. */
const inEveryLog = ['c0', 'c1', 'csi', 'osc', 'bidi', 'zero-width', 'tags', 'separator', 'surrogate', 'github-old']

describe('the corpus of hostile text', () => {
  it('holds at least sixty payloads, none twice', () => {
    expect(hostilePayloads.length).toBeGreaterThanOrEqual(60)
    expect(new Set(hostilePayloads.map(({ text }) => text)).size).toBe(hostilePayloads.length)
  })

  it.each([...inEveryLog, 'azure', 'teamcity'])('every payload of %s is found in a log', (name) => {
    for (const { text } of classes.get(name) ?? []) expect(findsHostile(text), JSON.stringify(text)).not.toEqual([])
  })

  it('every command of GitHub is found in a log, but for one a decoder would have to make first', () => {
    const missed = (classes.get('github') ?? []).filter(({ text }) => findsHostile(text).length === 0)
    expect(missed.map(({ text }) => text)).toEqual(['text%0A::add-mask::FORGED'])
  })

  it('what is only active in Markdown is found there, but for fences that are closed again', () => {
    const missed = (classes.get('markdown') ?? []).filter(({ text }) => findsHostile(text, 'markdown').length === 0)
    expect(missed.every(({ text }) => /^(?:`{3,}|~{3,})[^]*(?:`{3,}|~{3,})$/.test(text))).toBe(true)
    expect(missed).toHaveLength(3)
  })

  it('every formula is found in a table', () => {
    for (const { text } of classes.get('csv') ?? []) expect(findsHostile(text, 'csv'), text).not.toEqual([])
  })

  it('is found in Markdown unless a fence is longer than every run of backticks in it', () => {
    const text = hostilePayloads.map((payload) => neutral(payload.text)).join('\n')
    expect(findsHostile(`\`\`\`\n${text}\n\`\`\`\n`, 'markdown')).not.toEqual([])
    expect(findsHostile(`${'`'.repeat(7)}\n${text}\n${'`'.repeat(7)}\n`, 'markdown')).toEqual([])
  })

  it.each(hostilePayloads)('is harmless in a log once it is neutral: $class', ({ text }) => {
    expect(findsHostile(neutral(text))).toEqual([])
    expect(findsHostile(`before\n${neutralLine(text)}\nafter`)).toEqual([])
  })

  it('our own annotations are not taken for a payload', () => {
    expect(findsHostile('::error file=/w/a.case.yaml,title=x,line=4,column=1::HarvestError%3A FORGED')).toEqual([])
  })
})
