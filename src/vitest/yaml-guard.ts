/** The little of a Vite plugin that this file touches; its real type is generic over every hook. */
interface TransformingPlugin {
  readonly name: string
  transform?: unknown
}

type Transform = (this: unknown, code: string, id: string, ...rest: readonly unknown[]) => unknown

const guarded = new WeakSet<object>()

/**
 * Keeps other plugins that read YAML away from modules for which `isOurs` holds. They run after us, on the JavaScript
 * we made out of a case, and fail on it. Ordinary YAML imports go on to work.
 */
export function guardYamlPlugins(plugins: readonly TransformingPlugin[], isOurs: (id: string) => boolean): void {
  for (const plugin of plugins) {
    if (!/ya?ml/i.test(plugin.name) || guarded.has(plugin)) continue
    guarded.add(plugin)
    const { transform } = plugin
    if (isTransform(transform)) plugin.transform = unless(isOurs, transform)
    else if (isObjectHook(transform)) plugin.transform = { ...transform, handler: unless(isOurs, transform.handler) }
  }
}

function unless(isOurs: (id: string) => boolean, transform: Transform): Transform {
  return function (code, id, ...rest) {
    return isOurs(id) ? null : transform.call(this, code, id, ...rest)
  }
}

function isTransform(value: unknown): value is Transform {
  return typeof value === 'function'
}

function isObjectHook(value: unknown): value is { readonly handler: Transform } {
  return typeof value === 'object' && value !== null && 'handler' in value && isTransform(value.handler)
}
