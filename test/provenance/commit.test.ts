import { expect, test } from 'vitest'
import { resolveCommit } from '../../src/provenance/index.ts'

const commit = '4f2a9c1d5e6b7a8f90c1d2e3f4a5b6c7d8e9f0a1'

test('the commit is known without git from the variables hosts and CI services set', () => {
  expect(resolveCommit({ GITHUB_SHA: commit })).toBe(commit)
  expect(resolveCommit({ VERCEL_GIT_COMMIT_SHA: commit })).toBe(commit)
  expect(resolveCommit({ CI_COMMIT_SHA: `${commit.toUpperCase()}\n` })).toBe(commit)
  expect(resolveCommit({ PATH: '/usr/bin' })).toBeUndefined()
})

test('GIT_SHA, our own name, wins over the name of a service', () => {
  expect(resolveCommit({ GITHUB_SHA: commit, GIT_SHA: 'abcdef1' })).toBe('abcdef1')
})

test('a variable that holds no commit hash is passed over', () => {
  expect(resolveCommit({ GIT_SHA: '', GIT_COMMIT: 'HEAD', COMMIT_REF: 'main', CIRCLE_SHA1: '${SHA}' })).toBeUndefined()
  expect(resolveCommit({ GIT_SHA: 'unknown', GITHUB_SHA: commit })).toBe(commit)
  expect(resolveCommit({ GIT_SHA: 'abcdef' }), 'six digits are too few to name a commit').toBeUndefined()
})
