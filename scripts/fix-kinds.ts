/**
 * Ten kinds of fixes, each from a promoted incident to a case that is green with the fix and red without it, by `fix` and
 * `test` alone. `node scripts/fix-kinds.ts [name]` prints a line for each and fails unless all end so within their budget.
 */
import { type FixKind, fixKinds, openFixProject } from '../test/cli/fix-kinds.ts'

const tokens = 20_000
const asked = process.argv[2]
let failed = 0
for (const kind of fixKinds.filter(({ name }) => asked === undefined || name === asked)) {
  const said = await go(kind)
  if (said.problem !== undefined) failed++
  console.log(`${said.problem === undefined ? 'ok ' : 'NOT'}  ${kind.name.padEnd(20)}  ${said.problem ?? said.about}`)
}
if (failed > 0) process.exitCode = 1

async function go(kind: FixKind): Promise<{ readonly about: string; readonly problem?: string }> {
  const project = await openFixProject(kind)
  try {
    const tools = kind.standIns === undefined ? [] : ['--tools', './test/tools.ts']
    const ok = kind.ok.flatMap((one) => ['--ok', one])
    const live = ['--live', '--max-tokens', String(tokens)]
    const before = project.desk.asked.length
    const { code, stdout, stderr } = await project.harvest(
      'fix',
      'incident',
      ...ok,
      ...live,
      ...tools,
      '--yes',
      '--json',
    )
    const calls = project.desk.asked.length - before
    const fixed =
      code === 0
        ? (JSON.parse(stdout) as { readonly ok: number; readonly graded: number; readonly keep: number })
        : undefined
    if (fixed === undefined) return { about: '', problem: `fix: ${stdout.slice(0, 2_000)}\n${stderr.slice(0, 2_000)}` }
    const green = await project.harvest('test')
    if (green.code !== 0) return { about: '', problem: `red with the fix\n${green.stdout}` }
    project.unfix()
    const red = await project.harvest('test')
    if (red.code !== 1) return { about: '', problem: `green without the fix\n${red.stdout}` }
    if (calls * 120 > tokens) return { about: '', problem: `${calls} model calls are over the budget` }
    return { about: `${fixed.ok} of ${fixed.graded} ok, steps kept ${fixed.keep}, ${calls} model calls` }
  } finally {
    await project.close()
  }
}
