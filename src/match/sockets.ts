import { originOf } from './address.ts'

/**
 * Whether two sockets, as tapes have them, are one. Folders that `mkdtemp` makes have another name each time; this machine
 * has several names.
 */
export function sameSocket(recorded: string, live: string): boolean {
  if (recorded.startsWith('tcp:') || live.startsWith('tcp:')) return originOf(recorded) === originOf(live)
  const [before, now] = [recorded.split('/'), live.split('/')]
  return (
    before.length === now.length &&
    before.every((part, i) => part === now[i] || (before[0] === '(temporary)' && isMadeAlike(part, now[i] ?? '')))
  )
}

/** Names of one beginning with six letters and digits behind it, as `mkdtemp` draws them. */
function isMadeAlike(recorded: string, live: string): boolean {
  const [before, now] = [drawn.exec(recorded), drawn.exec(live)]
  return before !== null && now !== null && before[1] === now[1]
}

const drawn = /^(.*?)(?!\d{6}$)[A-Za-z0-9]{6}$/
