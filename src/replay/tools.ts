import { describeEvent, isStep } from '../match/step.ts'
import type { Step, TapeEvent } from '../tape/index.ts'
import type { ToolsMode } from '../match/types.ts'

/** Whose bodies a replay runs, and what those reach. */
export class Tools {
  readonly #names: ReadonlySet<string>
  readonly #live: ReadonlySet<string>
  readonly #servers: ReadonlyMap<string, string>

  constructor(mode: ToolsMode = 'serve') {
    const { run = [], live = [], mcp = {} } = typeof mode === 'object' ? mode : mode === 'run' ? { run: ['*'] } : {}
    this.#names = new Set(run)
    this.#live = new Set(live.map((url) => new URL(url).origin))
    this.#servers = new Map(Object.entries(mcp))
  }

  /** Whether the body of a wrapped function runs. A named value is read from the tape: it has no arguments to be run with. */
  runs({ kind, name, driver }: Pick<Extract<Step, { readonly args: unknown }>, 'kind' | 'name' | 'driver'>): boolean {
    return kind !== 'value' && driver === undefined && (this.#names.has('*') || this.#names.has(name))
  }

  /** Whether a request made inside of such a body really goes out. */
  isLive(url: string): boolean {
    return this.#live.size > 0 && URL.canParse(url) && this.#live.has(new URL(url).origin)
  }

  /** The server that answers an MCP client of the agent in place of the tape. */
  serverOf(url: string): string | undefined {
    return this.#servers.get(url)
  }
}

/** A wrapped function of a tape whose body would run, and what is known about what it does. */
export interface ToolReach {
  readonly kind: 'tool' | 'retrieval'
  readonly name: string
  /** What it was seen to ask, such as `POST api.shop.test/refunds`; each once. */
  readonly asks: readonly string[]
}

/** The tools and retrievers of a tape whose bodies run in a mode, by name, with what happened inside of them. */
export function reachOf(tape: { readonly events: readonly TapeEvent[] }, mode: ToolsMode): readonly ToolReach[] {
  const tools = new Tools(mode)
  const steps = tape.events.filter(isStep)
  const byN = new Map(steps.map((step) => [step.n, step]))
  const found = new Map<string, { readonly kind: ToolReach['kind']; readonly asks: Set<string> }>()
  const entry = (step: Step): Set<string> | undefined => {
    if ((step.kind !== 'tool' && step.kind !== 'retrieval') || !tools.runs(step)) return undefined
    const known = found.get(step.name) ?? { kind: step.kind, asks: new Set<string>() }
    found.set(step.name, known)
    return known.asks
  }
  for (const step of steps) {
    entry(step)
    for (let outer = step.in; outer !== undefined; outer = byN.get(outer)?.in) {
      const around = byN.get(outer)
      if (around !== undefined) entry(around)?.add(describeEvent(step).split('?', 1)[0] ?? '')
    }
  }
  return [...found]
    .map(([name, { kind, asks }]) => ({ kind, name, asks: [...asks].sort() }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}
