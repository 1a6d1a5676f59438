import { constants } from 'node:os'
import { isAbsolute, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A JSON-RPC message on a stdio line. */
export interface RpcMessage {
  readonly jsonrpc: '2.0'
  readonly id?: string | number
  readonly method?: string
}

/** The JSON-RPC message on a line, or `undefined` when the line is something else. */
export function messageOf(text: string): RpcMessage | undefined {
  if (!text.startsWith('{')) return undefined
  try {
    const parsed = JSON.parse(text) as Partial<RpcMessage>
    return parsed.jsonrpc === '2.0' ? (parsed as RpcMessage) : undefined
  } catch {
    // Not JSON-RPC: log output of the child, which no agent reads.
    return undefined
  }
}

export function isRequest(message: RpcMessage): boolean {
  return message.method !== undefined && message.id !== undefined
}

export function isResponse(message: RpcMessage): boolean {
  return message.method === undefined && message.id !== undefined
}

/** The address of a child of unknown command: the log of an MCP server does not say how it was started. */
export const unnamedChild = 'stdio:'

/** Names a child by its command; folders are left out so that a tape replays on another machine. */
export function urlOfCommand(command: readonly string[]): string {
  return `stdio:${command.map((part) => encodeURIComponent(part.split(/[\\/]/).at(-1) ?? part)).join(' ')}`
}

/** What a child process is started with beside its command. */
export interface ChildSettings {
  /** As seen from the folder of this process: `.`, `tools/shop`, or `(elsewhere)` for any folder outside, which is the machine's. */
  readonly cwd: string
  /** Variables whose values the code sets; what comes from the environment of this process is the machine's. */
  readonly env: Readonly<Record<string, string>>
  /**
   * What else decides what runs, as whom and for how long: `program`, where `argv0` gives it another name, `uid`, `gid` and
   * `timeout`. An id that this process has itself says so: `1000 (own)`.
   */
  readonly options?: Readonly<Record<string, string>>
}

/** By these a program ends a child: it ends its input, or sends it a signal. */
export type EndingMethod = 'END' | 'KILL'

/** Names a signal; `undefined` for 0, which asks only whether a child is there. */
export function signalName(signal: string | number = 'SIGTERM'): string | undefined {
  if (typeof signal === 'string') return signal
  return Object.entries(constants.signals).find(([, number]) => number === signal)?.[0]
}

export interface StartOptions {
  /** The program, as Node starts it. */
  readonly file?: string | undefined
  readonly argv0?: string | undefined
  readonly uid?: number | undefined
  readonly gid?: number | undefined
  readonly timeout?: number | undefined
  readonly cwd?: string | URL | undefined
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
}

/** How the code starts a child, without what the machine adds. */
export function childSettings(given: StartOptions = {}): ChildSettings {
  const { cwd, env } = given
  const options = otherOptions(given)
  const folder = relative(process.cwd(), cwd instanceof URL ? fileURLToPath(cwd) : resolve(cwd ?? '.'))
  const isOutside = folder.startsWith('..') || isAbsolute(folder)
  return {
    cwd: isOutside ? '(elsewhere)' : folder.replaceAll('\\', '/') || '.',
    env: env == null ? {} : ownVariables(env),
    ...(Object.keys(options).length > 0 && { options }),
  }
}

function otherOptions({ file, argv0, uid, gid, timeout }: StartOptions): Record<string, string> {
  const shown = (id: number, own: number | undefined): string => `${id}${id === own ? ' (own)' : ''}`
  return {
    ...(argv0 !== undefined && file !== undefined && { program: file }),
    ...(uid != null && { uid: shown(uid, process.getuid?.()) }),
    ...(gid != null && { gid: shown(gid, process.getgid?.()) }),
    ...(timeout !== undefined && timeout > 0 && { timeout: `${timeout} ms` }),
  }
}

/** Characters a value of the environment has at least to be known under another name, too: `1` or `test` say nothing. */
const renamedFrom = 8

function ownVariables(env: NonNullable<StartOptions['env']>): ChildSettings['env'] {
  const inherited = new Set(Object.values(process.env).filter((value) => (value?.length ?? 0) >= renamedFrom))
  const own = Object.entries(env).flatMap(([name, value]) => {
    const before = process.env[name]
    if (value === undefined || value === before || inherited.has(value)) return []
    // `./bin:${process.env.PATH}`: what is added is the code's.
    return [[name, before ? String(value).replaceAll(before, `$${name}`) : String(value)] as const]
  })
  return Object.fromEntries(own.sort(([a], [b]) => (a < b ? -1 : 1)))
}
