import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

/**
 * Keeps the space for young objects small in a command that lists thousands of files and then reads one after the other. It
 * doubles whenever as much as it holds outlived a collection: a list of files does, and of what is read nothing is kept. So it
 * does not grow while they are listed, and afterwards only as far as it makes a difference.
 *
 * @param run - calls what it is given now and then, once they are listed
 */
export async function inSmallYoungSpace<T>(run: (goOn: () => void) => Promise<T>): Promise<T> {
  // V8 prints a line about a setting it does not know: it is made where it was tried.
  if (!process.versions.node.startsWith('24.')) return run(() => undefined)
  let isSettled = false
  growBy(1)
  try {
    return await run(() => {
      if (isSettled) return
      const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')
      isSettled = (young?.space_size ?? 0) >= enough
      growBy(isSettled ? 1 : 2)
    })
  } finally {
    growBy(2)
  }
}

/** Bytes, of both halves. */
const enough = 16 * 1024 * 1024

function growBy(factor: 1 | 2): void {
  setFlagsFromString(`--semi-space-growth-factor=${factor}`)
}
