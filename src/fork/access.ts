import type { ReplayOptions } from '../match/types.ts'
import type { ForkOptions } from './plan.ts'

/** What the replays of a case may reach, and the hosts that are the same to them, for the forks of its tape. */
export function accessOf({
  allow,
  hosts,
}: Pick<ReplayOptions, 'allow' | 'hosts'>): Pick<ForkOptions, 'allow' | 'hosts'> {
  return { ...(allow === undefined ? {} : { allow }), ...(hosts === undefined ? {} : { hosts }) }
}
