import { expect, test } from 'vitest'
import { drawn } from '../../scripts/rules/draw.ts'
import { gapsOf, readRules } from '../../scripts/rules/gap.ts'

const list = String.raw`
title = "made up"

[[rules]]
id = "known-vendor"
regex = '''(?i)\b(ghp_[0-9a-zA-Z]{36})(?:['"\s;]|$)'''

[[rules]]
id = "unknown-vendor"
regex = '''\bzzkey:[a-f0-9]{8}(?:-[a-f0-9]{4}){2}\b'''

[[rules]]
id = "cannot-be-drawn"
regex = '''(unfinished'''

[[rules]]
id = "no-pattern"
path = "secrets.txt"
`

test('a foreign list of rules is drawn from, and what our finders leave is told by its id', () => {
  const { drawn: count, undrawable, missed } = gapsOf(readRules(list), 1)
  expect(count).toBe(2)
  expect(undrawable).toEqual(['cannot-be-drawn'])
  expect(missed.map(({ id }) => id)).toEqual(['unknown-vendor'])
})

test.each([
  [String.raw`a{3}[b-d]{2,4}\.x?`],
  [String.raw`(?:one|two|three)_[\w-]{8}`],
  [String.raw`[^\s"]{5}=\x2e\d+`],
  [String.raw`(?P<name>k[[:alnum:]]{4})\z`],
])('what is drawn of %s matches it', (pattern) => {
  const source = pattern.replace('(?P<', '(?<').replace('[[:alnum:]]', '[A-Za-z0-9]').replace('\\z', '$')
  for (let seed = 1; seed < 20; seed++) expect(drawn(pattern, seed)).toMatch(new RegExp(source))
})
