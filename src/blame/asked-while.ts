import { subscribe, unsubscribe } from 'node:diagnostics_channel'

/** What Node says when a request is made, by its own client or by the one behind `fetch`. */
const channels = ['undici:request:create', 'http.client.request.start']

/** Does some work, and says whether a request was made meanwhile. */
export async function askedWhile<T>(work: () => Promise<T>): Promise<{ readonly came: T; readonly hasAsked: boolean }> {
  let hasAsked = false
  const note = (): void => {
    hasAsked = true
  }
  for (const channel of channels) subscribe(channel, note)
  try {
    return { came: await work(), hasAsked }
  } finally {
    for (const channel of channels) unsubscribe(channel, note)
  }
}
