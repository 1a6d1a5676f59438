import { HarvestError, shellWord } from '../errors/index.ts'
import { withoutSteps } from '../errors/steps.ts'
import type { Promotion } from '../recordings/index.ts'
import { installReplay, replayTape, standInKeys } from '../replay/index.ts'
import type { ReplayOptions } from '../match/types.ts'
import { parseTape } from '../tape/index.ts'
import { judge } from '../verdict/index.ts'
import { withStrays } from './strays.ts'

/**
 * Replays a tape as its case will, before anything is written.
 *
 * @throws HarvestError `HARVEST_PROMOTE_DIVERGED` when the case would be red
 */
export async function requireGreen(
  { bytes, source, content }: Promotion,
  agent: (input: unknown) => unknown,
): Promise<void> {
  await installReplay()
  const tape = parseTape(bytes.toString('utf8'), source)
  const { constants, messages, marks, states, match = {} } = content
  const takeBack = standInKeys(tape)
  try {
    const settings = {
      ...(constants === undefined ? {} : { constants }),
      ...(messages === undefined ? {} : { messages }),
      ...(marks === undefined ? {} : { marks }),
      ...(states === undefined ? {} : { states }),
      late: true,
    } as ReplayOptions
    const { result, strays } = await withStrays(tape, () => replayTape(tape, agent, settings))
    const run = { ...result, problems: [...result.problems, ...strays] }
    const { isGreen, because, verdict } = judge(content, run, match)
    if (isGreen) return
    throw new HarvestError('HARVEST_PROMOTE_DIVERGED', {
      what: 'The replay of this tape differs from the recording; no case was written',
      where: { tape: source, verdict },
      ...(because === undefined ? {} : { detail: withoutSteps(because.error.message).replace(/^/gm, '  ') }),
      why: 'The agent is not the recorded one, or it reads something that is not on the tape.',
      fix: [
        `to find what differs: npx vitest-harvest doctor ${shellWord(source)}`,
        "to write the red case anyway: promote(tape, { as, agent: 'unverified' })",
      ],
    })
  } finally {
    takeBack()
  }
}
