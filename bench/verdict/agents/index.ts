import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Edit } from '../edits.ts'
import { reworded, refactored, type Text, twisted } from '../operators.ts'
import type { World } from '../world/types.ts'
import * as desk from './desk/edits.ts'
import * as deskWorld from './desk/world.ts'
import * as orders from './orders/edits.ts'
import * as ordersWorld from './orders/world.ts'
import * as research from './research/edits.ts'
import * as researchWorld from './research/world.ts'
import * as workbench from './workbench/edits.ts'
import * as workbenchWorld from './workbench/world.ts'
import * as newsroom from './newsroom/edits.ts'
import * as newsroomWorld from './newsroom/world.ts'
import * as claims from './claims/edits.ts'
import * as claimsWorld from './claims/world.ts'
import * as travel from './travel/edits.ts'
import * as travelWorld from './travel/world.ts'
import * as ops from './ops/edits.ts'
import * as opsWorld from './ops/world.ts'
import * as notify from './notify/edits.ts'
import * as notifyWorld from './notify/world.ts'
import * as ledger from './ledger/edits.ts'
import * as ledgerWorld from './ledger/world.ts'
import * as depot from './depot/edits.ts'
import * as depotWorld from './depot/world.ts'
import { second } from './second.ts'

/** An agent of this bench: its source is `<name>/agent.ts`. */
export interface Subject {
  readonly name: string
  /** What it stands for. */
  readonly of: string
  readonly input: unknown
  readonly open: () => World
  /** Name → source. */
  readonly files: Readonly<Record<string, string>>
  readonly edits: readonly Edit[]
  /** Written when the rules of the product stood. */
  readonly second: readonly Edit[]
}

interface Edits {
  readonly of: string
  readonly edits: readonly Edit[]
  readonly texts: readonly Text[]
  /** Files beside `agent.ts`. */
  readonly files?: readonly string[]
}

interface Scene {
  readonly input: unknown
  readonly open: () => World
}

export const subjects: readonly Subject[] = [
  subject('desk', desk, deskWorld),
  subject('orders', orders, ordersWorld),
  subject('research', research, researchWorld),
  subject('workbench', workbench, workbenchWorld),
  subject('newsroom', newsroom, newsroomWorld),
  subject('claims', claims, claimsWorld),
  subject('travel', travel, travelWorld),
  subject('ops', ops, opsWorld),
  subject('notify', notify, notifyWorld),
  subject('ledger', ledger, ledgerWorld),
  subject('depot', depot, depotWorld),
]

function subject(name: string, { of, edits, texts, files: more = [] }: Edits, { input, open }: Scene): Subject {
  const read = (file: string) => readFileSync(join(import.meta.dirname, name, file), 'utf8')
  const files = Object.fromEntries(['agent.ts', ...more].map((file) => [file, read(file)]))
  const readByModels = texts.filter((text) => text.of === 'prompt' || text.of === 'description')
  const all = [...edits, ...twisted(texts), ...reworded(readByModels), ...refactored(files['agent.ts']!)]
  const named = all.map(({ of: what, name: edit }) => `${what}: ${edit}`)
  const twice = named.filter((each, at) => named.indexOf(each) !== at)

  if (twice.length > 0) throw new RangeError(`${name}: edits that share a name: ${twice.join(', ')}`)
  // What stands in the first list already is no new edit.
  const known = new Set(all.map(({ changes }) => JSON.stringify(changes)))
  const later = (second[name] ?? []).filter(({ changes }) => !known.has(JSON.stringify(changes)))
  return { name, of, input, open, files, edits: all, second: later }
}
