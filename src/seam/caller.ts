import { AsyncLocalStorage } from 'node:async_hooks'
import { isAbsolute, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Caller } from './source.ts'
import { ownFolder, ownFolderPath } from '../own-files.ts'

const packages = new Map<string, string>()

/**
 * The npm package whose code called `caller`: `app` for code outside `node_modules`, `node` for Node itself.
 *
 * Draws are kept apart by it: an SDK that reads the clock once more after an upgrade then takes nothing from
 * the agent's own reads.
 */
export function callerPackage(caller: Caller): string {
  if (isInNode) return 'node'
  const file = callerFile(caller)
  let name = packages.get(file)
  if (name === undefined) packages.set(file, (name = packageOf(file)))
  return name
}

/** The file of the code that called `caller`: a path or URL, `node:…` for Node itself. */
export function callerFile(caller: Caller): string {
  const { prepareStackTrace, stackTraceLimit } = Error
  Error.prepareStackTrace = takeFrames
  Error.stackTraceLimit = skipped === undefined ? 1 : 4
  const holder: { stack?: unknown } = {}
  Error.captureStackTrace(holder, caller)
  const frames = holder.stack as NodeJS.CallSite[] | undefined
  const frame = frames?.find((one) => !skipped?.has(one.getFileName() ?? ''))
  const file = frame?.getFileName() ?? frame?.getEvalOrigin() ?? 'node:'
  Error.prepareStackTrace = prepareStackTrace
  Error.stackTraceLimit = stackTraceLimit
  return file
}

/** Files that only hand a call on. */
let skipped: Set<string> | undefined

/** From now on, calls that come through this file are those of whoever called it. */
export function skipCallerFrames(url: string): void {
  skipped ??= new Set()
  skipped.add(url).add(fileURLToPath(url))
}

function takeFrames(_error: unknown, frames: NodeJS.CallSite[]): NodeJS.CallSite[] {
  return frames
}

let isInNode = false

/** Does something in which only code of Node itself runs: who reads a clock there need not be looked up. */
export function asNode<T>(work: () => T): T {
  const before = isInNode
  isInNode = true
  try {
    return work()
  } finally {
    isInNode = before
  }
}

function packageOf(file: string): string {
  if (file.startsWith('node:')) return 'node'
  const at = file.lastIndexOf('node_modules/')
  if (at < 0) return 'app'
  const [scope = '', name = ''] = file.slice(at + 'node_modules/'.length).split('/')
  const found = scope.startsWith('@') ? `${scope}/${name}` : scope
  if (machinery.has(found)) return 'node'
  // Several versions side by side are installed as `undici7` and the like.
  return /^undici\d+$/.test(found) ? 'undici' : found
}

/** Packages that only a replay runs: what they read was never recorded. */
const machinery = new Set(['vitest-harvest', '@mswjs/interceptors'])

/**
 * `file:line:column` of the nearest frame in the user's own code, or `undefined` when none is on the stack.
 * Async frames count, so a call three SDK layers down still finds the `await` it came from.
 */
export function userSite(): string | undefined {
  return siteIn(captureStack())
}

/** Of a stack that is kept. */
export const mostFrames = 60

/** The stack as it is now; formatted only when someone reads it. */
export function captureStack(frames = mostFrames): Origin {
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = frames
  const origin = origins.getStore()
  const depth = (origin?.depth ?? 0) + 1
  // A poller sets each timer from the one before: its chain is cut back to where it began.
  const cause = depth > 8 ? origin?.first : origin
  const stack = (cause ? new Error('site', { cause }) : new Error('site')) as Mutable<Origin>
  Error.stackTraceLimit = limit
  stack.depth = cause ? depth % 9 : 1
  stack.first = origin?.first ?? origin
  return stack
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

interface Origin extends Error {
  readonly depth: number
  readonly first: Origin | undefined
}

/** The stack a callback was handed over with: an SDK that starts its work in a timer loses the caller otherwise. */
const origins = new AsyncLocalStorage<Origin>()

/** Runs `work` so that sites inside it fall back to where we are now. */
export function withOrigin<T>(work: () => T): T {
  return origins.run(captureStack(), work)
}

/** {@link userSite} of a stack captured earlier, or of what led to it. */
export function siteIn(captured: Error): string | undefined {
  for (let stack: unknown = captured; stack instanceof Error; stack = stack.cause) {
    for (const line of (stack.stack ?? '').split('\n').slice(1)) {
      const site = siteOf(line)
      if (site) return site
    }
  }
  return undefined
}

/** The site that a line of a stack names in the user's own code. */
export function siteOf(line: string): string | undefined {
  const found = /(?:\(|at (?:async )?)((?:file:\/\/|\/|[A-Za-z]:[\\/])[^()]*:\d+:\d+)\)?$/.exec(line.trim())?.[1]
  if (!found || found.includes('node_modules') || found.startsWith(ownFolder.href)) return undefined
  const path = found.startsWith('file://') ? pathOf(found) : found
  return path.startsWith(ownFolderPath) ? undefined : fromHere(path)
}

/** Relative to the working directory where it lies inside: no tape carries the folders of a machine. */
function fromHere(site: string): string {
  const path = relative(process.cwd(), site)
  return path.startsWith('..') || isAbsolute(path) ? site : path.split(sep).join('/')
}

function pathOf(site: string): string {
  const [, url = site, position = ''] = /^(.*?)((?::\d+){1,2})$/.exec(site) ?? []
  const clean = url.split('?', 1)[0] ?? url
  return fileURLToPath(clean) + position
}
