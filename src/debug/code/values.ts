import { inspect } from 'node:util'
import type { Channel } from './channel.ts'
import type { PausedFrame, RemoteValue } from './types.ts'

/** Milliseconds a look may take: a loop without an end would keep the debugger. */
const lookMs = 10_000

/** A variable of the frame, as one line and, where it is data, as a value. */
export interface LocalVariable {
  readonly name: string
  readonly text: string
}

/** The result of an expression. */
export type Evaluated =
  | { readonly value: unknown; readonly text: string }
  | { readonly error: string; readonly isSideEffect: boolean }

/** Scopes that belong to the function that stands still. */
const ownScopes = new Set(['local', 'block', 'catch', 'with', 'eval'])

/** The variables of a frame, the innermost scope first; one that hides another stands alone. */
export async function localsOf(channel: Channel, frame: PausedFrame): Promise<readonly LocalVariable[]> {
  const found = new Map<string, LocalVariable>()
  for (const { type, object } of frame.scopeChain) {
    if (!ownScopes.has(type)) continue
    const { result } = await channel.cdp<{
      readonly result: readonly { readonly name: string; readonly value?: RemoteValue }[]
    }>('Runtime.getProperties', { objectId: object.objectId, ownProperties: true })
    // A variable whose line has not run has no value yet.
    for (const { name, value } of result)
      if (value !== undefined && !found.has(name) && name !== 'this')
        found.set(name, { name, text: await classText(channel, value) })
    // What lies around the function is not its own.
    if (type === 'local') break
  }
  return [...found.values()]
}

/** V8 tells the name of a class by where it was defined; the agent sees another one where the class says so. */
async function classText(channel: Channel, value: RemoteValue): Promise<string> {
  const { objectId, className, description } = value
  if (objectId === undefined || className?.startsWith('_') !== true || description !== className)
    return shortText(value)
  const answer = await channel.cdp<{ readonly result: RemoteValue; readonly exceptionDetails?: object }>(
    'Runtime.callFunctionOn',
    {
      objectId,
      functionDeclaration: 'function () { return this.constructor.name }',
      throwOnSideEffect: true,
      silent: true,
    },
  )
  const { value: name } = answer.result
  return answer.exceptionDetails === undefined && typeof name === 'string' && name !== '' ? name : className
}

/**
 * Evaluates in a frame. Unless `mayChange`, anything that would change something or consume a recorded read is refused.
 *
 * @param changeMs - milliseconds it may take where it may change something
 */
export async function evaluateIn(
  channel: Channel,
  frame: PausedFrame,
  expression: string,
  mayChange: boolean,
  changeMs = lookMs,
): Promise<Evaluated> {
  const limitMs = mayChange ? changeMs : lookMs
  const ask = (returnByValue: boolean) =>
    channel.cdp<{
      readonly result: RemoteValue
      readonly exceptionDetails?: { readonly text: string; readonly exception?: RemoteValue }
    }>('Debugger.evaluateOnCallFrame', {
      callFrameId: frame.callFrameId,
      expression,
      returnByValue,
      throwOnSideEffect: !mayChange,
      timeout: limitMs,
      silent: true,
      generatePreview: false,
    })
  // A `debugger` statement of what is called would keep the answer: the agent stands still already.
  if (mayChange) await channel.cdp('Debugger.setSkipAllPauses', { skip: true })
  const came = await ask(false).catch((error: Error) => tookTooLong(error, limitMs))
  if (mayChange) await channel.cdp('Debugger.setSkipAllPauses', { skip: false })
  if ('error' in came) return came
  const { result, exceptionDetails } = came
  if (exceptionDetails !== undefined) {
    const said = exceptionDetails.exception?.description ?? exceptionDetails.text
    const [first = ''] = said.split('\n')
    return { error: first, isSideEffect: /Possible side-effect in debug-evaluate/.test(first) }
  }
  if (result.objectId === undefined || result.type === 'function')
    return { value: plainValue(result), text: shortText(result) }
  const data = await dataOf(channel, result)
  if (data === undefined) return { value: result.description ?? null, text: shortText(result) }
  return {
    value: data.value,
    text: inspect(data.value, { depth: 4, breakLength: 96, maxArrayLength: 50, maxStringLength: 2_000 }),
  }
}

/** An object as data; `undefined` when it cannot be, such as one with a cycle. */
async function dataOf(
  channel: Channel,
  { objectId, className, subtype }: RemoteValue,
): Promise<{ readonly value: unknown } | undefined> {
  if (subtype !== 'array' && className !== 'Object') return undefined
  const answer = await channel
    .cdp<{ readonly result: RemoteValue; readonly exceptionDetails?: object }>('Runtime.callFunctionOn', {
      objectId,
      functionDeclaration: 'function () { return this }',
      returnByValue: true,
      throwOnSideEffect: true,
      silent: true,
    })
    .catch(() => undefined)
  return answer === undefined || answer.exceptionDetails !== undefined ? undefined : { value: answer.result.value }
}

function plainValue({ type, value, unserializableValue, description }: RemoteValue): unknown {
  if (type === 'undefined') return null
  return unserializableValue ?? value ?? description ?? null
}

/** `'text'`, `Array(7)`, `Response`, `undefined`. */
function shortText({ type, subtype, value, unserializableValue, description, className }: RemoteValue): string {
  if (type === 'string') return inspect(value, { maxStringLength: 2_000 })
  if (type === 'undefined') return 'undefined'
  if (subtype === 'null') return 'null'
  if (unserializableValue !== undefined) return unserializableValue
  if (type === 'function') return (description ?? 'function').split('\n', 1)[0]?.slice(0, 60) ?? 'function'
  if (type !== 'object') return description ?? String(value)
  return subtype === 'error' ? (description ?? 'Error').split('\n', 1)[0]! : (description ?? className ?? 'Object')
}

function tookTooLong(error: Error, limitMs: number): { readonly error: string; readonly isSideEffect: false } {
  if (!/Execution was terminated/.test(error.message)) throw error
  return { error: `it took longer than ${limitMs / 1_000} s`, isSideEffect: false }
}
