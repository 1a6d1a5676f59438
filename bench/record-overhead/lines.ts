import { hash } from 'node:crypto'
import { closeSync, linkSync, openSync, unlinkSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** Hears what is sent, before it leaves, and what came, before it is acted on. */
export type Heard = (said: Readonly<Record<string, string>>) => void

/**
 * What a recorder that loses nothing to a kill cannot do without, and nothing else: a file for each run, named when it is begun,
 * and a line of JSON in it, chained by a digest, for each request and each answer. Nothing is redacted or looked up.
 */
export class Lines {
  readonly #file: number
  #digest = ''

  constructor(dir: string, id: string) {
    const unnamed = join(dir, `.${id}`)
    this.#file = openSync(unnamed, 'wx', 0o600)
    this.say({ id, startedAt: new Date().toISOString() })
    linkSync(unnamed, join(dir, `${id}.jsonl`))
    unlinkSync(unnamed)
  }

  readonly say: Heard = (said) => {
    const json = JSON.stringify(said)
    this.#digest = hash('sha256', this.#digest + json, 'base64url')
    writeSync(this.#file, Buffer.from(`${json.slice(0, -1)},"#":"${this.#digest}"}\n`))
  }

  close(): void {
    this.say({ outcome: 'returned' })
    closeSync(this.#file)
  }
}
