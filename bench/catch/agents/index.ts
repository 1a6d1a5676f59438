import type { Edit } from '../edits.ts'
import type { Scene } from '../world/types.ts'
import { edits as billing } from './billing/edits.ts'
import { scene as billingScene } from './billing/world.ts'
import { edits as docs } from './docs/edits.ts'
import { scene as docsScene } from './docs/world.ts'
import { edits as ops } from './ops/edits.ts'
import { scene as opsScene } from './ops/world.ts'
import { edits as refund } from './refund/edits.ts'
import { scene as refundScene } from './refund/world.ts'
import { edits as stock } from './stock/edits.ts'
import { scene as stockScene } from './stock/world.ts'
import { edits as travel } from './travel/edits.ts'
import { scene as travelScene } from './travel/world.ts'
import { edits as triage } from './triage/edits.ts'
import { scene as triageScene } from './triage/world.ts'

/** An agent of this bench: its source is `<name>/agent.ts`. */
export interface Subject {
  readonly name: string
  /** SDKs and ways of working that it stands for. */
  readonly of: string
  readonly scene: Scene
  readonly edits: readonly Edit[]
}

export const subjects: readonly Subject[] = [
  {
    name: 'refund',
    of: 'OpenAI chat, streamed; wrapped tools in parallel; a guard',
    scene: refundScene,
    edits: refund,
  },
  {
    name: 'billing',
    of: 'OpenAI responses; paging, retries, idempotency over HTTP',
    scene: billingScene,
    edits: billing,
  },
  {
    name: 'triage',
    of: 'Anthropic, streamed; memory, a wrapped retriever, failing tools',
    scene: triageScene,
    edits: triage,
  },
  {
    name: 'travel',
    of: 'AI SDK, wrapped tools in parallel; a person approves; clock and ids',
    scene: travelScene,
    edits: travel,
  },
  { name: 'stock', of: 'LangGraph; tools that share state and ask HTTP services', scene: stockScene, edits: stock },
  {
    name: 'ops',
    of: 'Google GenAI; wrapped tools in parallel; a guard; an overloaded model',
    scene: opsScene,
    edits: ops,
  },
  { name: 'docs', of: 'OpenAI chat; tools of an MCP server; a guard; long texts', scene: docsScene, edits: docs },
]
