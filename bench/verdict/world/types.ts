import type { Asked, Decision } from '../../catch/world/types.ts'

/** A request as it came over the wire. */
export interface Request {
  readonly method: string
  /** Host and port as the client asked for them: `api.openai.com`. */
  readonly host: string
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  /** Lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Parsed where it is JSON. */
  readonly body: unknown
}

export interface Reply {
  /** Default 200. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: unknown
}

/** What surrounds one run: a model that follows a script, and services. Fresh for every run. */
export interface World {
  /** @param index - how many questions the models of this run were asked before */
  decide(asked: Asked, index: number): Decision
  /** Default: `{ ok: true }`. */
  serve?(request: Request): Reply
}

/** What a run did that others can see, in order. */
export type Deed =
  | ({ readonly kind: 'model' | 'service' } & Request)
  | { readonly kind: 'tool' | 'retrieval'; readonly name: string; readonly args: readonly unknown[] }
  | { readonly kind: 'message'; readonly from: string; readonly to: string; readonly body: unknown }
  | { readonly kind: 'mark'; readonly name: string; readonly data?: unknown }
  | { readonly kind: 'ending'; readonly returned?: unknown; readonly threw?: string }
