import path from 'node:path'
import { expect, it } from 'vitest'
import { openHome } from './inline.ts'
import { config, golden, refundBaseline, refundSources } from './refund.ts'

it('the summary of a step on GitHub shows what an outcome was to be, and what it was', async () => {
  using home = openHome(5)
  const project = home.project('outcome', {
    'vitest.config.ts': config(),
    ...refundSources,
    ...golden('one', `${refundBaseline}outcome: { refunded: 26, note: "" }\n`),
    'summary.md': '',
  })
  const env = { CI: 'true', GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: path.join(project.folder, 'summary.md') }
  expect((await project.run(['run'], { env })).code).toBe(1)
  expect(project.read('summary.md')).toContain(
    '```diff\n- expected\n+ received\n\n  {\n-   "refunded": 26,\n-   "note": ""\n+   "refunded": 25\n  }\n```',
  )
})
