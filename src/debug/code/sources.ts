import { readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Channel } from './channel.ts'
import type { Location, Script } from './types.ts'

/** A place as the user's editor shows it: lines from 1, columns from 1. */
export interface CodePlace {
  readonly file: string
  readonly line: number
  readonly column: number
}

/** The text of a file of the agent, as it was loaded. */
export interface CodeText {
  readonly lines: readonly string[]
  /** The file on the disk is another one now: what is shown is what runs. */
  readonly isChanged: boolean
}

/** The scripts of the agent's process, and where their code stands in the user's files. */
export class Sources {
  readonly #channel: Channel
  readonly #scripts = new Map<string, Script>()
  readonly #maps = new Map<string, SourceMap | undefined>()
  readonly #texts = new Map<string, CodeText>()

  constructor(channel: Channel) {
    this.#channel = channel
    channel.on((message) => {
      if ('event' in message && message.event === 'Debugger.scriptParsed') {
        const script = message.params as Script
        this.#scripts.set(script.scriptId, script)
      }
    })
  }

  get scripts(): readonly Script[] {
    return [...this.#scripts.values()]
  }

  urlOf(scriptId: string): string {
    return this.#scripts.get(scriptId)?.url ?? ''
  }

  /** Where a location stands in the file the user wrote. */
  placeOf({ scriptId, lineNumber, columnNumber }: Location): CodePlace {
    const file = fileOf(this.urlOf(scriptId))
    const entry = this.#mapOf(scriptId)?.findEntry(lineNumber, columnNumber)
    if (entry !== undefined && 'originalLine' in entry)
      return { file, line: entry.originalLine + 1, column: entry.originalColumn + 1 }
    return { file, line: lineNumber + 1, column: columnNumber + 1 }
  }

  /** The user's text of a script. */
  async textOf(scriptId: string): Promise<CodeText> {
    const known = this.#texts.get(scriptId)
    if (known !== undefined) return known
    const disk = readText(this.urlOf(scriptId))
    const own = this.#mapOf(scriptId)?.payload.sourcesContent?.[0]
    const { scriptSource } =
      own === undefined
        ? await this.#channel.cdp<{ readonly scriptSource: string }>('Debugger.getScriptSource', { scriptId })
        : { scriptSource: own }
    const isSame = disk !== undefined && (own === undefined ? isStripped(disk, scriptSource) : disk === own)
    const text = { lines: (isSame ? disk : scriptSource).split(/\r?\n/), isChanged: !isSame }
    this.#texts.set(scriptId, text)
    return text
  }

  /** Vite's transform leaves an inline map; Node strips types and keeps every place. */
  #mapOf(scriptId: string): SourceMap | undefined {
    if (this.#maps.has(scriptId)) return this.#maps.get(scriptId)
    const [, base64] =
      /^data:application\/json[^,]*;base64,(.*)$/s.exec(this.#scripts.get(scriptId)?.sourceMapURL ?? '') ?? []
    const map =
      base64 === undefined ? undefined : new SourceMap(JSON.parse(Buffer.from(base64, 'base64').toString('utf8')))
    this.#maps.set(scriptId, map)
    return map
  }
}

/** The file of a script as people name it: below the current folder, relative to it. */
function fileOf(url: string): string {
  if (!url.startsWith('file:')) return url
  const file = fileURLToPath(withoutQuery(url))
  const near = relative(process.cwd(), file)
  return near.startsWith('..') ? file : near
}

function readText(url: string): string | undefined {
  if (!url.startsWith('file:')) return undefined
  try {
    return readFileSync(fileURLToPath(withoutQuery(url)), 'utf8')
  } catch {
    // It is gone from the disk: what runs is shown from memory.
    return undefined
  }
}

function withoutQuery(url: string): string {
  return url.replace(/[?#].*$/, '')
}

/** Whether what runs is this text with blanks in the place of its types. */
function isStripped(disk: string, loaded: string): boolean {
  // Node says behind it where it is from.
  if (loaded.length < disk.length || !/^\s*(?:\/\/# sourceURL=\S*\s*)?$/.test(loaded.slice(disk.length))) return false
  for (let at = 0; at < disk.length; at++) {
    const character = loaded[at]
    if (character !== disk[at] && character !== ' ' && character !== ';') return false
  }
  return true
}
