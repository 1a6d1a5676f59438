import type { Escape, UninstrumentedIo } from '../match/types.ts'
import { listOnce } from '../seam/intercept/index.ts'
import { isAllowed, isCutOff } from './allow.ts'

/** What reached around the seam in one run: refused, let through, or only heard of. */
export class OutsideIo {
  readonly escapes: Escape[] = []
  readonly listed: UninstrumentedIo[] = []
  readonly #redact: (text: string) => string
  readonly #allow: readonly string[] | 'all'

  /**
   * @param redact - a target as messages say it
   * @param allow - what is let through, as in the replay options; `all` lets everything through
   */
  constructor(redact: (text: string) => string, allow: readonly string[] | 'all' = []) {
    this.#redact = redact
    this.#allow = allow
  }

  /** @returns the target as a refusal says it; `undefined` where it is let through */
  reach(kind: string, target: string, site: string | undefined): string | undefined {
    const said = this.#redact(target)
    const allowed = this.#allow === 'all' ? !isCutOff(kind, target) : isAllowed(this.#allow, kind, target, said)
    this.escapes.push({ kind, target: said, allowed, ...(site ? { site } : {}) })
    return allowed ? undefined : said
  }

  /** Notes what the seam heard of and cannot hold, once each. */
  list(one: UninstrumentedIo): void {
    listOnce(this.listed, { ...one, target: this.#redact(one.target) })
  }
}
