// vitest-evals: the model is asked (it is an evaluation), each request to a service is a tool that is replayed
// strictly, and the answer and the names of the tools are asserted, as its documents show.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, vi } from 'vitest'
import { liveWorld } from '../world/live.ts'
import { type Outcome, outcomeOf } from '../world/run.ts'
import type { WireAnswer } from '../world/types.ts'
import type { Variant } from '../project.ts'
import { counted, fetchOf, freeze, load, sceneOf, strayMs, variantsHere } from './trial.ts'

interface Run {
  readonly output: Outcome
}

interface Evals {
  createHarness(options: { name: string; run(context: { input: Variant }): Promise<object> }): unknown
  describeEval(
    name: string,
    options: { harness: unknown },
    suite: (
      it: (name: string, test: (context: { run(input: Variant): Promise<Run> }) => Promise<void>) => void,
    ) => void,
  ): void
  toolCalls(run: Run): readonly { readonly name: string }[]
}

interface Replay {
  executeWithReplay(options: {
    toolName: string
    args: object
    context: undefined
    execute(): WireAnswer
    replay: boolean
  }): Promise<{ readonly result: WireAnswer }>
}

// A peer is not among the dependencies of this repository.
const [peer, replayPeer] = ['vitest-evals', 'vitest-evals/replay']
const { createHarness, describeEval, toolCalls } = (await import(/* @vite-ignore */ peer)) as Evals
const { executeWithReplay } = (await import(/* @vite-ignore */ replayPeer)) as Replay

const harness = createHarness({
  name: 'agent',
  async run({ input: variant }) {
    const scene = sceneOf(variant.agent)
    const world = liveWorld(scene.open(), { id: counted() })
    const events: object[] = [{ type: 'message', role: 'user', content: 'the recorded input' }]
    using _frozen = freeze()
    vi.stubGlobal('fetch', replayed(world, variant, events))
    try {
      const output = await outcomeOf(await load(variant), scene.inputs[0])
      return { events: [...events, { type: 'message', role: 'assistant', content: JSON.stringify(output) }], output }
    } finally {
      await sleep(strayMs)
      vi.unstubAllGlobals()
    }
  },
})

const variants = variantsHere()
const expected = new Map<string, { readonly output: Outcome; readonly names: readonly string[] }>()

describeEval('agents', { harness }, (it) => {
  for (const variant of variants) {
    it(variant.id, async ({ run }) => {
      const result = await run(variant)
      const names = toolCalls(result).map(({ name }) => name)
      // The agent as it is comes first: what it did is what the test of its variants asserts.
      if (variant.edit === undefined) expected.set(variant.agent, { output: result.output, names })
      if ('threw' in result.output) throw new Error(result.output.threw)
      expect(result.output).toEqual(expected.get(variant.agent)?.output)
      expect(names).toEqual(expected.get(variant.agent)?.names)
    })
  }
})

/** The world as a `fetch` whose services are tools. */
function replayed(world: ReturnType<typeof liveWorld>, { agent }: Variant, events: object[]): typeof fetch {
  const ask = fetchOf(world)
  return async (input, init) => {
    const request = new Request(input, init)
    const { pathname, search } = new URL(request.url)
    const text = await request.clone().text()
    const rpc = pathname.endsWith('/mcp') ? (JSON.parse(text || '{}') as Rpc) : undefined
    const isTool = pathname.includes('/api/') || rpc?.method === 'tools/call'
    if (!isTool) return ask(request)
    const name = rpc?.params?.name ?? `${request.method} ${pathname.split('/')[3]}`
    const args = rpc?.params?.arguments ?? { path: pathname + search, body: text }
    const id = `call-${events.length}`
    events.push({ type: 'tool_call', id, name, arguments: args })
    const headers = Object.fromEntries(request.headers)
    const { result } = await executeWithReplay({
      toolName: `${agent} ${name}`,
      args,
      context: undefined,
      execute: () => world.answer({ method: request.method, url: pathname + search, headers, body: text }),
      replay: true,
    })
    events.push({ type: 'tool_result', toolCallId: id, name, content: result.body })
    const body =
      rpc === undefined ? result.body : JSON.stringify({ ...(JSON.parse(result.body) as object), id: rpc.id })
    return new Response(body, { status: result.status, headers: result.headers })
  }
}

interface Rpc {
  readonly id?: number
  readonly method?: string
  readonly params?: { readonly name?: string; readonly arguments?: object }
}
