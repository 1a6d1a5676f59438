import { canonicalJson, isList, isMap } from '../json/canonical.ts'
import type { Json } from '../json/types.ts'
import { textTest } from './patterns.ts'
import type { Amount, RunPosition } from './position.ts'
import type { Atom, RuleComparison, Condition, Pattern } from './types.ts'

/** The values `$name` stands for. */
export type Values = Readonly<Record<string, Json>>

/** Whether an atom is true at a position. */
export function holdsAt(atom: Atom, position: RunPosition, values: Values): boolean {
  switch (atom.kind) {
    case 'call':
      return (
        position.kind === 'call' &&
        isNamed(atom.name, position.name ?? '') &&
        isPhase(atom.phase ?? 'called', position.phase) &&
        isBy(atom.by, position) &&
        all(atom.conditions, position.args, values) &&
        all(atom.returns ?? [], position.result, values) &&
        fits(atom.error, position.error)
      )
    case 'asks':
      return (
        position.kind === 'asks' &&
        isNamed(atom.name, position.name ?? '') &&
        all(atom.conditions, position.args, values)
      )
    case 'model': {
      if (position.kind !== 'model' || !isBy(atom.by, position)) return false
      if (atom.says !== undefined) return position.phase === 'ok' && fits(atom.says, position.text)
      return isPhase(atom.phase ?? 'called', position.phase)
    }
    case 'message':
      return (
        position.kind === 'message' &&
        (atom.from === undefined || atom.from === position.from) &&
        (atom.to === undefined || atom.to === position.to) &&
        fits(atom.says, position.text)
      )
    case 'mark':
      return position.kind === 'mark' && position.name === atom.name && all(atom.conditions, position.args, values)
    case 'end':
      return (
        position.kind === 'end' &&
        (atom.phase === undefined || atom.phase === position.phase) &&
        all(atom.returns ?? [], position.result, values)
      )
    case 'measure':
      return isMeasured(atom, position)
    case 'agent':
      return (position.agent === atom.name) === (atom.op === '=')
    case 'at':
      return position.step !== undefined && position.step >= atom.first && position.step <= atom.last
  }
}

function isPhase(wanted: 'called' | 'ok' | 'fails' | 'answered', phase: RunPosition['phase']): boolean {
  return wanted === 'answered' ? phase === 'ok' || phase === 'fails' : phase === wanted
}

function isBy(agent: string | undefined, position: RunPosition): boolean {
  return agent === undefined || agent === position.agent
}

function fits(pattern: Pattern | undefined, text: string | undefined): boolean {
  return pattern === undefined || (text !== undefined && textTest(pattern)(text))
}

function isMeasured(atom: Extract<Atom, { kind: 'measure' }>, position: RunPosition): boolean {
  switch (atom.measure) {
    case 'elapsed':
      return compare(position.atMs, atom.op, atom.value)
    case 'took':
      return compare(position.tookMs, atom.op, atom.value)
    case 'step':
      return compare(position.step, atom.op, atom.value)
    default:
      return isAmount(position[atom.measure], atom.op, atom.value)
  }
}

/** Of a sum with unknown parts only this is certain: it is more than what is known of it is more than. */
function isAmount({ known, isWhole }: Amount, op: RuleComparison, value: number): boolean {
  return (isWhole || op === '>' || op === '>=') && compare(known, op, value)
}

function all(conditions: readonly Condition[], value: Json | undefined, values: Values): boolean {
  return conditions.every((condition) => isTrueOf(condition, value, values))
}

function isTrueOf(condition: Condition, root: Json | undefined, values: Values): boolean {
  const value = valueAt(root, condition.path)
  if (value === undefined) return false
  switch (condition.op) {
    case 'present':
      return true
    case '~':
      return textTest(condition.pattern)(typeof value === 'string' ? value : JSON.stringify(value))
    case 'in':
      return condition.values.some((one) => identity(one) === identity(value))
    default: {
      const operand = 'variable' in condition.value ? values[condition.value.variable] : condition.value.literal
      return operand !== undefined && compare(value, condition.op, operand)
    }
  }
}

/** What stands at a path; nothing inherited. */
export function valueAt(root: Json | undefined, path: readonly string[]): Json | undefined {
  let value = root
  for (const part of path) {
    if (isList(value)) value = /^(?:0|[1-9]\d*)$/.test(part) ? value[Number(part)] : undefined
    else if (isMap(value)) value = Object.hasOwn(value, part) ? value[part] : undefined
    else return undefined
  }
  return value
}

/** Values with one identity are the same to a rule: `7` and `"7"` are, since models change the type of ids. */
export function identity(value: Json): string {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : canonicalJson(value)
}

/** Larger and smaller are of numbers, and of texts that are numbers; of all else they are false. */
export function compare(value: Json | undefined, op: RuleComparison, operand: Json): boolean {
  if (value === undefined) return false
  if (op === '=') return identity(value) === identity(operand)
  if (op === '!=') return identity(value) !== identity(operand)
  const [left, right] = [numberOf(value), numberOf(operand)]
  if (left === undefined || right === undefined) return false
  return op === '<' ? left < right : op === '<=' ? left <= right : op === '>' ? left > right : left >= right
}

function numberOf(value: Json): number | undefined {
  if (typeof value === 'number') return value
  return typeof value === 'string' && /^\s*-?\d+(?:\.\d+)?(?:e[+-]?\d+)?\s*$/i.test(value) ? Number(value) : undefined
}

/** `*` stands for any letters, the rest for itself. */
export function isNamed(glob: string, name: string): boolean {
  if (!glob.includes('*')) return glob === name
  const [first = '', ...rest] = glob.split('*')
  const end = rest.pop() ?? ''
  if (!name.startsWith(first) || !name.endsWith(end) || name.length < first.length + end.length) return false
  // Each part at its first place: what fits any way fits this way.
  let at = first.length
  for (const part of rest) {
    const found = name.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  return at <= name.length - end.length
}
