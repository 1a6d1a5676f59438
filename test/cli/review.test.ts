import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { reviewMarkdown, type Review } from '../../src/review/index.ts'
import { call, putTape } from '../recordings/make.ts'
import { modelCall } from '../recordings/model-call.ts'
import { scratch, warmHarvest as harvest } from './harvest.ts'

const caseOf = (id: string, more = ''): string =>
  `case: ${id}\nagent: refund\ntape: ${id}.tape.jsonl\nexpect: pass\n${more}baseline:\n  - refund(amount)\n`

/** A repository whose first commit has three cases, and whose second one changes recordings. */
function repository(): string {
  const folder = scratch()
  const git = (...args: readonly string[]): void =>
    void execFileSync('git', ['-c', 'user.name=Jane', '-c', 'user.email=jane@example.com', ...args], {
      cwd: folder,
      stdio: 'pipe',
    })
  const golden = join(folder, 'recordings/golden')
  const events = (amount: number) => [modelCall(1, { tools: ['refund'] }), call(20, 'refund', { amount })]
  const put = (id: string, amount: number, text = caseOf(id)): void => {
    putTape(join(folder, 'recordings'), `golden/${id}`, {
      header: { id, input: { ticket: amount } },
      events: events(amount),
    })
    writeFileSync(join(golden, `${id}.case.yaml`), text)
  }
  mkdirSync(golden, { recursive: true })
  put('kept', 1)
  put('loose', 2, caseOf('loose', 'match: { args: exact }\n'))
  put('gone', 3)
  writeFileSync(join(folder, '.gitattributes'), '*.tape.jsonl -text\n')
  git('init', '-q', '-b', 'main')
  git('add', '-A')
  git('commit', '-qm', 'Start')
  git('checkout', '-qb', 'change')
  writeFileSync(join(golden, 'loose.case.yaml'), caseOf('loose', 'match: { args: ignore }\n'))
  for (const file of ['gone.case.yaml', 'gone.tape.jsonl']) rmSync(join(golden, file))
  put('new', 5)
  mkdirSync(join(golden, 'more'))
  cpSync(join(golden, 'kept.tape.jsonl'), join(golden, 'more/copy.tape.jsonl'))
  writeFileSync(join(golden, 'more/copy.case.yaml'), caseOf('copy', 'title: asks jane@example.com\n'))
  writeFileSync(join(folder, 'vitest.config.ts'), 'export default {}\n')
  git('add', '-A')
  git('commit', '-qm', 'Change')
  // What others merge meanwhile is not of this branch.
  git('checkout', '-q', 'main')
  put('theirs', 9)
  git('add', '-A')
  git('commit', '-qm', 'Theirs')
  git('checkout', '-q', 'change')
  return folder
}

describe('harvest review', () => {
  it('says what a branch does to recordings: weaker cases, each tape in five lines, secrets, duplicates, sizes', async () => {
    const cwd = repository()
    const { code, stdout, stderr } = await harvest(['review', 'main..change'], { cwd })
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' })
    expect(stdout.replaceAll(/[\d.]+ kB/g, '<size>')).toMatchInlineSnapshot(`
      "recordings/golden/more/copy.tape.jsonl  added, <size>
        asked   refund({"ticket":1})
        models  invented-1: 1 call, 110 tokens
        did     refund("amount":1)
        said    Done.
        ended   returned {"refunded":25}
        same as recordings/golden/kept.tape.jsonl
      recordings/golden/new.tape.jsonl  added, <size>
        asked   refund({"ticket":5})
        models  invented-1: 1 call, 110 tokens
        did     refund("amount":5)
        said    Done.
        ended   returned {"refunded":25}

      gone  removed
        weaker  case: removed
      loose  changed
        weaker  match.args: exact → ignore  recordings/golden/loose.case.yaml:5
      copy  added
      new  added
      recordings/golden/more/copy.case.yaml:5  This case holds what looks like a secret
        line 5: email
      vitest.config.ts  changed: it may set policies for all cases

      4 cases, 2 tapes, +<size>: 2 assertions weaker, 1 issue to fix
      "
    `)
    const { stdout: json } = await harvest(['review', 'main', '--json'], { cwd })
    const review = JSON.parse(json) as Review
    expect(review.cases.map(({ id, change, weakened }) => [id, change, weakened.length])).toEqual([
      ['gone', 'removed', 1],
      ['loose', 'changed', 1],
      ['copy', 'added', 0],
      ['new', 'added', 0],
    ])
    const { stdout: markdown } = await harvest(['review', 'main..change', '--markdown'], { cwd })
    expect(markdown).toBe(reviewMarkdown(review))
    expect(markdown).toContain('| `loose` | `recordings/golden/loose.case.yaml:5` | `match.args: exact → ignore` |')
    // Nothing of the branch, seen from itself.
    expect((await harvest(['review', 'change..change'], { cwd })).code).toBe(0)
  })

  it('of what is no commit says so', async () => {
    const { code, stderr } = await harvest(['review', 'mian..change'], { cwd: repository() })
    expect(stderr).toContain('HARVEST_GIT_RANGE')
    expect(code).toBe(2)
  })
})

describe('a review as a comment', () => {
  it('lets no recorded text out of its code', () => {
    const digest = { asked: '``` @jane <img>', models: '', did: 'a | b', said: '`', ended: '\n## forged' }
    const text = reviewMarkdown({
      base: '',
      head: '',
      cases: [],
      findings: [],
      configs: [],
      acceptedForAll: [],
      grownBytes: -5,
      tapes: [{ file: 'a<b.tape.jsonl', change: 'added', bytes: 1500, digest, sameAs: [] }],
    })
    expect(text).toMatchInlineSnapshot(`
      "## Recordings

      0 cases, 1 tape, -5 bytes. **Nothing is asserted less**, nothing to fix.

      <details><summary>added a&lt;b.tape.jsonl, 1.5 kB</summary>

      * asked \`\`\`\` \`\`\` @jane <img> \`\`\`\`
      * models \`\`
      * did \`a \\| b\`
      * said \`\` \` \`\`
      * ended \`⏎## forged\`

      </details>
      "
    `)
  })
})
