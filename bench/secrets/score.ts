import { type Alike, lookAlikes, type Secret, secrets } from './corpus.ts'
import { type Place, places } from './places.ts'

/** Something that takes secrets out; a fresh one for each text. */
export interface Contestant {
  readonly text: (text: string) => string | Promise<string>
  /** The body of a request in a content coding; what is given back may have it or not. */
  readonly body: (bytes: Buffer, coding: string) => string | Buffer | Promise<string | Buffer>
}

export interface Score {
  /** Found and put, by place and by class. */
  readonly places: ReadonlyMap<string, Share>
  readonly classes: ReadonlyMap<string, Share>
  readonly all: Share
  readonly alike: number
  /** Look-alikes that were changed. */
  readonly changed: readonly string[]
  /** Texts that could be read before and not afterwards. */
  readonly broken: readonly string[]
  /** Texts that change again when they go through again. */
  readonly unstable: readonly string[]
  readonly missed: readonly string[]
}

export interface Share {
  found: number
  put: number
}

/**
 * Puts every secret in every place. It counts as found when neither its beginning nor its end can be read any more by
 * whoever undoes the encoding.
 *
 * @param every - of all cells and look-alikes each so many-th; default all
 */
export async function score(make: () => Contestant, seed: number, every = 1): Promise<Score> {
  const shares = { places: new Map<string, Share>(), classes: new Map<string, Share>(), all: { found: 0, put: 0 } }
  const [broken, unstable, missed, changed]: [string[], string[], string[], string[]] = [[], [], [], []]
  const cells = cellsOf(seed).filter((_, at) => at % every === 0)
  for (const { secret, place } of cells) {
    const id = `${secret.id} in ${place.id}`
    const given = place.write(secret.name, secret.text)
    const redacted = await redact(make(), given, place)
    let read: string
    try {
      read = place.read(redacted)
    } catch {
      broken.push(id)
      read = String(redacted)
    }
    const isFound = !isReadable(read, secret.core)
    if (!isFound) missed.push(id)
    for (const share of [shareOf(shares.places, place.id), shareOf(shares.classes, secret.class), shares.all]) {
      share.put++
      if (isFound) share.found++
    }
    if (typeof redacted === 'string' && (await make().text(redacted)) !== redacted) unstable.push(id)
  }
  const alike = lookAlikes(seed).filter((_, at) => at % every === 0)
  for (const one of alike) if (await isChanged(make, one)) changed.push(one.id)
  return { ...shares, alike: alike.length, changed, broken, unstable, missed }
}

/** All secrets in all places that can carry them. */
function cellsOf(seed: number): readonly { readonly secret: Secret; readonly place: Place }[] {
  return secrets(seed).flatMap((secret) =>
    places
      .filter(({ takes, isNameless }) => takes?.(secret.text) !== false && !(isNameless && secret.class === 'name'))
      .map((place) => ({ secret, place })),
  )
}

async function redact(contestant: Contestant, given: string | Buffer, { coding }: Place): Promise<string | Buffer> {
  return typeof given === 'string' ? contestant.text(given) : contestant.body(given, coding!)
}

async function isChanged(make: () => Contestant, { text }: Alike): Promise<boolean> {
  return (await make().text(text)) !== text
}

/** Three fifths of a secret are as good as the whole of it. */
function isReadable(text: string, core: string): boolean {
  const length = Math.max(4, Math.ceil(core.length * 0.6))
  return text.includes(core.slice(0, length)) || text.includes(core.slice(-length))
}

function shareOf(shares: Map<string, Share>, key: string): Share {
  const known = shares.get(key)
  if (known !== undefined) return known
  const share = { found: 0, put: 0 }
  shares.set(key, share)
  return share
}
