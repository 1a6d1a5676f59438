import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { DriftClass } from '../../src/match/types.ts'

/** Where one run of a recorder is kept, and whom it asks. */
export interface RunOptions {
  readonly dir: string
  /** Of the run; its files carry it. */
  readonly name: string
  /** The provider. */
  readonly upstream: string
  /** What the run is given; only some recorders keep it. */
  readonly input?: unknown
}

/** What a replay came to. */
export interface Replayed<T> {
  readonly outcome: { readonly value: T } | { readonly error: string }
  /** Everything the recorder says is wrong: what would make a test of a user fail. */
  readonly complaints: readonly string[]
  /** What it reports without failing, by the number (from 0) of the recorded request that was served. */
  readonly reported: readonly { readonly request: number; readonly as: DriftClass }[]
}

/** A recorder, ours or another's. */
export interface Tool {
  /** Only ours has to be there before the agent's modules are. */
  install(): Promise<void>
  record<T>(options: RunOptions, work: (base: string) => Promise<T>): Promise<T>
  /** Never throws for what the work or the recorder did. */
  replay<T>(options: RunOptions, work: (base: string) => Promise<T>): Promise<Replayed<T>>
}

/** The adapters of the folders beside this file; see README.md. */
export const peers = {
  nock: { title: 'nock', folder: 'http', file: 'nock.mjs' },
  polly: { title: 'Polly', folder: 'http', file: 'polly.mjs' },
  undici: { title: 'undici', folder: 'http', file: 'undici.mjs' },
  undiciGlobal: { title: 'undici, global fetch', folder: 'http', file: 'undici-global.mjs' },
  agentTestRecorder: { title: 'agent-test-recorder', folder: 'http', file: 'agent-test-recorder.mjs' },
  aimock: { title: 'aimock', folder: 'aimock', file: 'aimock.mjs' },
} as const

/** A recorder by name: `ours`, or one of {@link peers}. */
export type ToolName = 'ours' | keyof typeof peers

export const toolNames: readonly ToolName[] = [
  'ours',
  'nock',
  'polly',
  'undici',
  'undiciGlobal',
  'agentTestRecorder',
  'aimock',
]

/** Heading of a column. */
export function titleOf(name: ToolName): string {
  return name === 'ours' ? 'ours' : peers[name].title
}

/** Loads a recorder; the peers must be installed. */
export async function toolNamed(name: ToolName): Promise<Tool> {
  if (name === 'ours') return (await import('./ours.ts')).ours
  const { folder, file } = peers[name]
  const { open } = (await import(pathToFileURL(join(import.meta.dirname, folder, file)).href)) as Adapter
  return toolOf(open)
}

interface Adapter {
  open(mode: 'record' | 'replay', options: RunOptions): Promise<AdapterSession>
}

interface AdapterSession {
  readonly base: string
  close(): Promise<readonly string[]>
}

function toolOf(open: Adapter['open']): Tool {
  return {
    install: () => Promise.resolve(),
    async record(options, work) {
      const session = await open('record', options)
      try {
        return await work(session.base)
      } finally {
        await session.close()
      }
    },
    async replay(options, work) {
      const session = await open('replay', options)
      const outcome = await work(session.base).then(
        (value) => ({ value }),
        (error: unknown) => ({ error: String(error) }),
      )
      const complaints = await session.close()
      const thrown = 'error' in outcome ? [outcome.error] : []
      return { outcome, complaints: [...thrown, ...complaints], reported: [] }
    },
  }
}
