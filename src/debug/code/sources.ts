import { readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { isAbsolute, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
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

/** A place in the file its code was written in, which is not the one that runs where that was compiled. */
interface Original {
  readonly url: string
  /** What was compiled, where its map holds it. */
  readonly text?: string | undefined
  readonly line: number
  readonly column: number
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
  placeOf(location: Location): CodePlace {
    const { url, line, column } = this.#originalOf(location) ?? {
      url: this.urlOf(location.scriptId),
      line: location.lineNumber,
      column: location.columnNumber,
    }
    return { file: fileOf(url), line: line + 1, column: column + 1 }
  }

  /** The user's text around a location. */
  async textOf(location: Location): Promise<CodeText> {
    const { scriptId } = location
    const original = this.#originalOf(location)
    const url = original?.url ?? this.urlOf(scriptId)
    const known = this.#texts.get(url)
    if (known !== undefined) return known
    const disk = readText(url)
    const text =
      original === undefined ? shown(disk, await this.#loadedText(scriptId), url) : compiledFrom(original, disk)
    this.#texts.set(url, text)
    return text
  }

  async #loadedText(scriptId: string): Promise<string> {
    const { scriptSource } = await this.#channel.cdp<{ readonly scriptSource: string }>('Debugger.getScriptSource', {
      scriptId,
    })
    return scriptSource
  }

  #originalOf({ scriptId, lineNumber, columnNumber }: Location): Original | undefined {
    const map = this.#mapOf(scriptId)
    const entry = map?.findEntry(lineNumber, columnNumber)
    if (map === undefined || entry === undefined || !('originalLine' in entry)) return undefined
    const { originalSource, originalLine: line, originalColumn: column } = entry
    const { sources, sourcesContent } = map.payload
    return {
      url: urlFrom(originalSource, this.urlOf(scriptId)),
      text: sourcesContent?.[sources.indexOf(originalSource)] ?? undefined,
      line,
      column,
    }
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

/** A source of a map: an address, or a path beside the script. */
function urlFrom(source: string, script: string): string {
  if (/^[a-z][\w+.-]+:/i.test(source)) return source
  return isAbsolute(source) ? pathToFileURL(source).href : new URL(source, withoutQuery(script)).href
}

/** What runs as it is on the disk: only a file can have been changed, or be gone. */
function shown(disk: string | undefined, loaded: string, url: string): CodeText {
  const isSame = disk !== undefined && isStripped(withoutMark(disk), withoutMark(loaded))
  return { lines: linesOf(isSame ? disk : loaded), isChanged: !isSame && url.startsWith('file:') }
}

/** Where the map does not hold the text, nothing tells whether the file was changed. */
function compiledFrom({ text }: Original, disk: string | undefined): CodeText {
  const isChanged = text !== undefined && disk !== undefined && withoutMark(disk) !== withoutMark(text)
  return { lines: linesOf(text ?? disk ?? ''), isChanged }
}

function linesOf(text: string): readonly string[] {
  return withoutMark(text).split(/\r?\n/)
}

/** Editors write a mark of the byte order that loaders leave out. */
function withoutMark(text: string): string {
  return text.replace(/^\uFEFF/, '')
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
