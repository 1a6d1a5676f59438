import { fileURLToPath } from 'node:url'
import { types } from 'node:util'

/** The file that a path of any kind names which Node takes: a text, bytes, an address of any class. `undefined` for all else. */
export function pathOf(file: unknown): string | undefined {
  if (typeof file === 'string') return file
  if (types.isUint8Array(file)) return Buffer.from(file).toString()
  const { href, protocol } = (file ?? {}) as { readonly href?: unknown; readonly protocol?: unknown }
  return typeof href === 'string' && protocol === 'file:' ? fileURLToPath(href) : undefined
}
