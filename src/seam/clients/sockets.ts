/** Sockets of clients behind the seam, opened by a run: what is said on them is no raw socket of its agent. */
const claimed = new WeakSet<object>()

export function claim(socket: unknown): void {
  if (typeof socket === 'object' && socket !== null) claimed.add(socket)
}

export function isClaimed(socket: object): boolean {
  return claimed.has(socket)
}
