import Module from 'node:module'
import { isAbsolute, relative, sep } from 'node:path'
import { isMainThread } from 'node:worker_threads'
import { captureStack } from './caller.ts'
import { type KnownAddOn, knownAddOn } from './known-add-ons.ts'
import { patchProperty } from './patch.ts'
import { sharedOf } from './source.ts'

/** Native code in this process: a file that `process.dlopen` loads. */
export interface AddOn {
  readonly file: string
  /** Its package without the platform; outside of `node_modules` its path from the working folder. */
  readonly name: string
  /** Absent: what it reaches is not known. */
  readonly known?: KnownAddOn
  /** The stack that made it load, where someone watched. */
  readonly madeAt?: Error
}

const platform =
  /[-/.]?\b(linux(musl)?|darwin|win32|freebsd|android|openharmony|wasm32)-(x64|ia32|arm|arm64|universal|riscv64|s390x|ppc64|loong64|wasi)\b.*$/

/** What an add-on is called on every platform: `@boundaryml/baml` for `…/@boundaryml/baml-linux-x64-gnu/x.node`. */
export function nameOfAddOn(file: string): string {
  const path = file.replace(/^\\\\\?\\/, '').replaceAll('\\', '/')
  const at = path.lastIndexOf('node_modules/')
  if (at < 0) return isAbsolute(path) ? outsidePackages(path) : path
  const [scope = '', inside = ''] = path.slice(at + 'node_modules/'.length).split('/')
  // Prisma writes its engine beside what it generates.
  if (scope === '.prisma') return '@prisma/client'
  const name = scope.startsWith('@') ? `${scope}/${inside}` : scope
  return name.replace(platform, '') || name
}

function outsidePackages(path: string): string {
  const inside = relative(process.cwd(), path)
  return inside.startsWith('..') || isAbsolute(inside) ? path : inside.split(sep).join('/')
}

export function addOnOf(file: string, madeAt?: Error): AddOn {
  const name = nameOfAddOn(file)
  const known = knownAddOn(name)
  return { file, name, ...(known && { known }), ...(madeAt && { madeAt }) }
}

/** Whether nothing of what it does can be an answer that no recorder saw. */
export function isHarmless({ known }: AddOn): boolean {
  return known !== undefined && known.reach !== 'network'
}

const key = 'add-ons'

/** By file. */
function loaded(): Map<string, AddOn> {
  return sharedOf(key, () => new Map(loadedBefore().map((file) => [file, addOnOf(file)])))
}

/**
 * What was loaded before anybody watched. In a worker thread that is what its own `require` knows: the process may have more,
 * which belongs to other threads.
 */
function loadedBefore(): readonly string[] {
  const { _cache: cache } = Module as unknown as { readonly _cache: Readonly<Record<string, unknown>> }
  const required = Object.keys(cache)
  const files = isMainThread ? [...required, ...sharedObjects()] : required
  return [...new Set(files)].filter((file) => file.endsWith('.node'))
}

function sharedObjects(): readonly string[] {
  // Not in the types of Node that we build with.
  const report = process.report as typeof process.report & { excludeNetwork?: boolean }
  const { excludeNetwork } = report
  try {
    // The names of peers would be looked up.
    report.excludeNetwork = true
    const { sharedObjects: files } = report.getReport() as { readonly sharedObjects?: readonly string[] }
    return files ?? []
  } finally {
    report.excludeNetwork = excludeNetwork ?? false
  }
}

/** All native code this thread may call into, what was loaded before anybody watched included. */
export function loadedAddOns(): readonly AddOn[] {
  return [...loaded().values()]
}

/** Native code whose answers no tape has: what each run of this process leaves out, by name. */
export function addOnsOutOfSight(): readonly string[] {
  const names = loadedAddOns().flatMap((addOn) => (isHarmless(addOn) ? [] : [addOn.name]))
  return [...new Set(names)].sort()
}

/**
 * Watches everything that loads native code: `require`, `import` and packages that call `process.dlopen` themselves end there.
 *
 * @param load - called in its place; what it throws refuses it
 */
export function watchAddOns(
  layer: string,
  load: (addOn: AddOn, original: () => unknown, module: { readonly exports?: unknown }) => unknown,
): void {
  const known = loaded()
  patchProperty(
    process,
    'dlopen',
    (original) =>
      function dlopen(this: unknown, ...args: unknown[]) {
        const [module, file] = args
        const addOn = addOnOf(String(file), captureStack())
        const result = load(
          addOn,
          () => Reflect.apply(original, process, args) as unknown,
          module as { exports?: unknown },
        )
        if (!known.has(addOn.file)) known.set(addOn.file, addOn)
        return result
      } as typeof original,
    layer,
  )
}

/** What the file exports that this thread loaded with `require`. */
export function exportsOf({ file }: AddOn): unknown {
  const { _cache: cache } = Module as unknown as {
    readonly _cache: Readonly<Record<string, { readonly exports?: unknown }>>
  }
  return cache[file]?.exports
}
