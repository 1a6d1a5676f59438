import { isMap, type JsonMap } from '../../json/canonical.ts'
import type { Json } from '../../tape/index.ts'

/** A recorded answer taken apart. */
export interface RecordedAnswer {
  readonly isStream: boolean
  /** The whole answer, or the first event of a stream. */
  readonly whole: JsonMap
  /** The events of a stream. */
  readonly events: readonly JsonMap[]
  /** The stream ended in `[DONE]`. */
  readonly isDone?: boolean
}

/** What the model is to have decided: a text, or calls. */
export interface Decided {
  readonly text: string
  readonly calls: readonly { readonly id: string; readonly name: string; readonly args: Json }[]
}

/** Writes a decision in the bytes of one dialect. */
export type Writer = (recorded: RecordedAnswer, decided: Decided) => string

/** A member that is an object, or an empty one. */
export function mapAt(value: Json | undefined, key: string): JsonMap {
  const member = isMap(value) ? value[key] : undefined
  return isMap(member) ? member : {}
}
