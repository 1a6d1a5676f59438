import { HarvestError, shellWord } from '../errors/index.ts'

/** An agent whose time is up. */
export function neverAnswered(
  owner: { readonly case: string } | { readonly tape: string },
  where: Readonly<Record<string, string>>,
  moreTime: string,
): HarvestError {
  const [name = ''] = Object.values(owner)
  return new HarvestError('HARVEST_AGENT_TIMEOUT', {
    what: 'The agent never answered',
    where: { ...owner, ...where },
    why: 'It waits for something that is not on the tape, or it needs more time.',
    fix: [`to see the recorded steps: npx vitest-harvest show ${shellWord(name)}`, `to give it more time: ${moreTime}`],
  })
}
