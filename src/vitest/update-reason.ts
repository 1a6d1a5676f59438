import { createInterface } from 'node:readline/promises'
import type { CaseApproval } from '../cases/index.ts'
import { HarvestError } from '../errors/index.ts'
import { isPlaceholder } from '../errors/placeholder.ts'
import { gitUser } from '../provenance/git.ts'

/** Says why new behaviour is accepted; `--reason` of our commands sets it. */
export const reasonVariable = 'HARVEST_UPDATE_REASON'

/** A reason is read in a diff: longer ones belong in the message of the commit. */
const maxLength = 500

/**
 * Checks the reason for an update.
 *
 * @throws HarvestError `HARVEST_UPDATE_REASON` when it says nothing, is the `…` of a printed command, or says more than 500 characters
 */
export function parseReason(text: string): string {
  const reason = text.trim()
  if (reason === '' || isPlaceholder(reason)) throw noReason(reason)
  if (reason.length <= maxLength) return reason
  throw new HarvestError('HARVEST_UPDATE_REASON', {
    what: 'The reason for this update is too long',
    where: { characters: `${reason.length}, at most ${maxLength}` },
    why: 'It is written into every case that is updated.',
    fix: ['use one sentence: --reason "refunds need a person now"', 'put the rest in the commit message'],
  })
}

/**
 * New behaviour was to be accepted, and it is unknown why.
 *
 * @param placeholder - what was given in the place of a reason
 */
export function noReason(placeholder = ''): HarvestError {
  return new HarvestError('HARVEST_UPDATE_REASON', {
    what: 'Missing reason for this update; nothing was run',
    ...(placeholder === '' ? {} : { where: { reason: `${placeholder} stands for your own words` } }),
    why: 'The case tells reviewers why the new behaviour is right.',
    fix: [
      // What was named stays named: an update without names renews all.
      'to say why: --reason "…"',
      `or by environment variable: ${reasonVariable}="…"`,
      'to write only missing baselines: npx vitest-harvest test --update-recordings=new',
    ],
  })
}

/** Asks the person at the terminal why new behaviour is accepted. An empty line or the end of the input is no reason. */
export async function askReason(input: NodeJS.ReadStream, output: NodeJS.WriteStream): Promise<string> {
  const terminal = createInterface({ input, output })
  const ended = new Promise<string>((resolve) => terminal.once('close', () => resolve('')))
  try {
    return await Promise.race([
      terminal.question('Why is the new behaviour right? It is written into the cases: '),
      ended,
    ])
  } finally {
    terminal.close()
  }
}

/**
 * What is written into the cases that an update rewrites.
 *
 * @param folder - where git is asked who the user is; who is not known is left out
 */
export async function approvalOf(reason: string, folder: string): Promise<CaseApproval> {
  const by = await gitUser(folder)
  return { reason, ...(by !== undefined && { by }), at: new Date().toISOString() }
}
