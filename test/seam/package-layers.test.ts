import { expect, test } from 'vitest'
import { runInChild } from '../../fixtures/child/index.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

test('what packages lay over fetch and node:http is asked for each agent that imports them, as if it had loaded them alone', async () => {
  const script = new URL('./package-layers.child.ts', import.meta.url)
  const seen: Readonly<Record<string, string>> = await runInChild(script, temporaryFolder('layers'))
  expect(seen).toEqual({
    'inner, outer': 'outer inner',
    again: 'outer inner',
    none: '',
    'outer alone': 'outer',
    'the other order': 'inner outer',
    'beside its own': 'own inner',
    'beside its own again': 'own inner',
    'through another package': 'inner',
    'through it and outer': 'own inner outer',
    'first seen behind another': 'defines outer http',
    'that one alone': 'defines',
    'node:http alone': 'http',
    required: 'own common',
    'required by another': 'common outer',
    'kept while it loaded': 'inner',
    'kept by one without it': '',
    'kept again': 'inner',
    'none at the end': '',
    'a part': '? fetch',
  })
})
