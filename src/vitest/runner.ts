import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, inject, test, TestRunner } from 'vitest'
import type { AgentLink } from './agent-link.ts'
import { agentsModule } from './agents-module-id.ts'
import { type CaseHead, isCaseId, nameOf, readHead, tagsOf } from './case-head.ts'
import { isCollectedHere } from './collected-here.ts'
import { openCase } from './runtime.ts'
import { ownPath } from '../own-files.ts'

type Source = Parameters<TestRunner['importFile']>[1]

const setup = ownPath('vitest/setup')

/**
 * Collects cases in the worker, where nothing needs the module that the plugin would make of each: to resolve, transform,
 * fetch and run it takes longer than to replay most cases. Vitest still has a test file for each of them, so that filters,
 * shards, reporters and what is fresh in a case are the same. Everything else is imported as Vitest does.
 */
export default class CaseRunner extends TestRunner {
  readonly #isHere = isCollectedHere({ ...this.config, watch: inject('vitest-harvest').isWatched })
  #isSetUp = false
  #agents: Promise<Readonly<Record<string, AgentLink>>> | undefined

  override async importFile(file: string, source: Source): Promise<unknown> {
    if (!this.#isHere) return super.importFile(file, source)
    if (source === 'setup') return this.#setUp(file, source)
    const found = isCaseId(file) ? headOf(file) : undefined
    // What cannot be read here the plugin is asked for: it says what is wrong.
    if (found === undefined) return super.importFile(file, source)
    const { head, name } = found
    const agents = await (this.#agents ??= this.#loadAgents(source))
    const link = head.agent.value === undefined ? undefined : agents[head.agent.value]
    const opened = openCase(file, name, link)
    describe(name, { tags: [...tagsOf(head)] }, () => {
      test('replays', opened.options, opened.replay)
    })
    return undefined
  }

  /** Ours holds for the worker; those of the user run before each file. */
  async #setUp(file: string, source: Source): Promise<unknown> {
    if (path.resolve(file) !== setup) return super.importFile(file, source)
    if (!this.#isSetUp) await super.importFile(file, source)
    this.#isSetUp = true
    return undefined
  }

  /** What imports each agent. It stays when `vi.resetModules()` is called, and imports afresh after that. */
  async #loadAgents(source: Source): Promise<Readonly<Record<string, AgentLink>>> {
    const { links } = (await super.importFile(agentsModule, source)) as { readonly links: readonly AgentLink[] }
    return Object.assign(Object.create(null), Object.fromEntries(links.map((link) => [link.name, link])))
  }
}

function headOf(file: string): { readonly head: CaseHead; readonly name: string } | undefined {
  const { root } = inject('vitest-harvest')
  const { folder } = inject('vitest-harvest/set')
  try {
    return { head: readHead(readFileSync(file, 'utf8')), name: nameOf(file, path.resolve(root, folder)) }
  } catch {
    return undefined
  }
}
