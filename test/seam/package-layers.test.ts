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
    'looked up': 'own',
    'required twice from one folder': 'common',
    'an imported one that requires': 'own imported-common',
    'that one again': 'own imported-common',
    'a module that is required': 'own required',
    'it, imported': 'own required',
    later: 'own later',
    'later again': 'own later',
    'a cycle': 'own cycle',
    'its other end': 'own cycle',
    'what throws': 'throws-common throws',
    'what throws again': 'throws-common throws',
    // Each once, and none of which only the path was asked for.
    ran: 'helper inner outer through definer defines http common keeps imported-common part-common part required later back cycle throws throws-common',
  })
})
