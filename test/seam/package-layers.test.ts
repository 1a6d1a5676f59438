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
    'while it runs': 'lazy-common lazy own outer',
    'while it runs, again': 'lazy-common lazy own outer',
    'before it runs': 'own lazy',
    'one that loaded before, while it runs': 'inner http',
    'its own code, while it runs': 'own in the run own',
    'that again': 'own in the run own',
    'none behind those': '',
    'a part, while it runs': 'lazy-part',
    'that part alone': '? fetch',
    // Without fresh modules the cases of a worker are one long process.
    'one copy for all, while it runs': 'kept',
    'one copy for all, again': 'kept',
    // Each once, and none of which only the path was asked for.
    ran: 'helper inner outer through definer defines http common keeps imported-common part-common part required later back cycle throws throws-common lazy lazy-common piece lazy-part kept',
  })
})

test('two copies of the package in a process, each of which lies over the other, end neither it nor its agent', async () => {
  expect(await runInChild(new URL('./two-copies.child.ts', import.meta.url), '')).toBe('stays')
})
