import { expect, test } from 'vitest'
import { parseCase, plainHead } from '../../src/cases/index.ts'
import { HarvestError } from '../../src/errors/index.ts'

const head = 'case: refund-100x\nagent: refund\ntape: refund-100x.tape.jsonl\nexpect: pass\n'

test('the head of a case as it is written is told without parsing it', () => {
  const read = { id: 'refund-100x', agent: 'refund', tape: 'refund-100x.tape.jsonl' }
  expect(plainHead(head)).toEqual(read)
  expect(plainHead(`# yaml-language-server: $schema=x\n\n${head.replaceAll('\n', '\r\n')}`)).toEqual(read)
})

/** Ways to write a case, right and wrong: what is told of each is what the parser says, or nothing. */
const texts: readonly string[] = [
  head,
  head.replace('refund-100x\n', '"refund-100x"\n'),
  head.replace('refund-100x\n', 'refund-100x # the first\n'),
  head.replace('case:', '"case":'),
  head.replace('case: ', 'case:\n  '),
  head.replace('case: ', '? case\n: '),
  head.replace('case: refund-100x', 'case: >-\n  refund-100x'),
  head.replace('case:', 'case :'),
  `${head}case: other\n`,
  `${head}title: |\n  case: other\n  agent: other\n`,
  `${head}title: "one\n  case: other"\n`,
  `${head}outcome:\n  case: other\n  tape: other.tape.jsonl\n`,
  `---\n${head}`,
  `${head}---\ncase: other\n`,
  '{\ncase: one,\nagent: two,\ntape: three.tape.jsonl,\nexpect: pass\n}\n',
  '{ title: "a\nb", case: one,\nagent: two,\ntape: three.tape.jsonl,\nexpect: pass }\n',
  `\uFEFF${head}`,
  head.replace('agent: refund', 'agent: refund  '),
  head.replace('agent: refund', 'agent:\trefund'),
]

test.for(texts)('what is told of a head is what the parser says: %j', (text) => {
  const told = plainHead(text)
  const read = parsed(text)
  if (read === undefined) return
  for (const key of ['id', 'agent', 'tape'] as const) if (told[key] !== undefined) expect(told[key]).toBe(read[key])
})

test('two keys of one name are not told apart', () => {
  expect(plainHead(`${head}case: other\n`)).toEqual({ agent: 'refund', tape: 'refund-100x.tape.jsonl' })
})

function parsed(text: string) {
  try {
    return parseCase(text, 'x.case.yaml')
  } catch (error) {
    if (HarvestError.is(error)) return undefined
    throw error
  }
}
