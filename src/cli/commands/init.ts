import { existsSync, writeFileSync } from 'node:fs'
import { neutral, neutralLine } from '../../errors/index.ts'
import { initSpec } from '../spec/record.ts'
import type { Command } from '../command.ts'
import { exit } from '../exit.ts'
import type { Plan, PlannedFile } from '../init/plan.ts'
import { type Screen, table } from '../../report/output.ts'

/** Sets a project up: the plugin in its Vitest config, the inbox in its `.gitignore`, tapes in its `.gitattributes`, reports of red cases in its workflows. Done twice, it does nothing. */
export const initCommand: Command = {
  ...initSpec,
  async run(given, screen) {
    const { planInit } = await import('../init/plan.ts')
    const plan = planInit('.', given.values('add'))
    const isDry = given.has('dry-run')
    const open = [plan.gitignore, plan.gitattributes, ...plan.workflows, plan.config].filter(
      ({ state }) => state !== 'already',
    )
    if (!isDry) for (const file of open) await write(file)
    if (given.has('json')) screen.json(answer(plan, isDry))
    else await print(plan, isDry, screen)
    return exit.ok
  },
}

/** The answer for programs. */
function answer({ agents, config, gitignore, gitattributes, workflows, ignored }: Plan, isDry: boolean): object {
  const brief = ({ file, state, after }: PlannedFile): object => ({
    file,
    state,
    ...(state === 'already' ? {} : { text: after }),
  })
  return {
    written: !isDry,
    agents,
    config: brief(config),
    gitignore: brief(gitignore),
    gitattributes: brief(gitattributes),
    workflows: workflows.map(brief),
    ignoredConfigs: ignored,
  }
}

async function write({ file, state, after }: PlannedFile): Promise<void> {
  // A new file gets the rights that new files have here; one that was there keeps its own.
  if (state === 'created' && !existsSync(file)) return writeFileSync(file, after, { flag: 'wx' })
  const { writeFileAtomic } = await import('../../recordings/files.ts')
  writeFileAtomic(file, after)
}

async function print(
  { agents, config, gitignore, gitattributes, workflows, ignored }: Plan,
  isDry: boolean,
  screen: Screen,
): Promise<void> {
  const open = [config, gitignore, gitattributes, ...workflows].filter(({ state }) => state !== 'already')
  if (agents.length > 0) {
    screen.line(
      table(
        agents.map(({ name, entry, why }) => [
          neutralLine(name, 60),
          neutralLine(entry, 200),
          screen.paint('dim', why),
        ]),
      ),
    )
    screen.line()
  }
  for (const name of ignored) screen.line(`${name} is left alone: Vitest reads ${config.file}`)
  for (const file of open) {
    screen.line(screen.paint('bold', `${file.file}${file.state === 'created' ? ' (new)' : ''}`))
    for (const line of await diffOf(file)) screen.line(`  ${neutral(line)}`)
  }
  if (open.length === 0)
    screen.line(
      'Nothing to do: the plugin is in the config, the inbox and reports in .gitignore, tapes in .gitattributes.',
    )
  else if (isDry) screen.line('Nothing was changed: this was a dry run.')
  else
    screen.line("Done. Look it over; then record a run and promote it: npx vitest-harvest promote latest --as '<id>'")
}

/** Changed lines, with two around them. */
async function diffOf({ file, before, after }: PlannedFile): Promise<readonly string[]> {
  const { structuredPatch } = await import('diff')
  const { hunks } = structuredPatch(file, file, before, after, undefined, undefined, { context: 2 })
  return hunks.flatMap(({ lines }) => lines.filter((line) => !line.startsWith('\\')))
}
