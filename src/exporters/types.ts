import type { Tape } from '../tape/index.ts'

/** Formats a tape can be exported to, as they are named on the command line. */
export const exportFormats = ['otlp', 'har', 'json'] as const
export type ExportFormat = (typeof exportFormats)[number]

export interface ExportOptions {
  /** Whether what was said goes along: messages, arguments, results, bodies, the input and the value of the outcome. */
  readonly withContent: boolean
}

/** A tape in another format. */
export interface Exported {
  /** The text in pieces, so that a long run is never one string. Made while it is read, once. */
  readonly pieces: Iterable<string>
  /** What of this tape the format cannot hold, in words: `3 tool calls`. Empty: nothing is lost but what every export loses. */
  readonly leftOut: readonly string[]
  /** What is to be known of this export: a tape without an end, times that were not recorded. */
  readonly notes: readonly string[]
}

export type Exporter = (tape: Tape, options: ExportOptions) => Exported
