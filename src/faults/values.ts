import type { Json } from '../tape/index.ts'
import { handedOver, handingOver } from './answers.ts'
import { valuesIn, withValueAt } from './places.ts'
import { type AnswerKind, type ArgumentRanges, type FaultArgs, numberIn, textIn } from './types.ts'

/** Values that are wrong and say so nowhere: results of tools, retrievers and services that are no models. They stay. */
export const valueKinds: readonly AnswerKind[] = [
  value('value-stale', 'an older number', isNumber, (old, args) => Number(old) - numberIn(args, 'by', 1), {
    by: { least: 1, most: 1000 },
  }),
  value(
    'value-transposed',
    'two digits of a number have changed places',
    hasDigitsToSwap,
    (old, args) => transposed(Number(old), numberIn(args, 'digit')),
    { digit: { least: 0, most: 7 } },
  ),
  value(
    'value-unit',
    'a number in another unit: 100 times as much',
    (one, path) => isNumber(one, path) && one !== 0,
    (old) => Number(old) * 100,
  ),
  value(
    'value-swapped',
    'two fields have changed places',
    (one) => swapped(one) !== undefined,
    (old) => swapped(old) ?? old,
  ),
  value(
    'value-empty-list',
    'a list is empty',
    (one) => Array.isArray(one) && one.length > 0,
    () => [],
  ),
  value(
    'value-null',
    'a value is null',
    (one) => one !== null && typeof one !== 'object',
    () => null,
  ),
  value('value-other-id', 'an id of something else', isId, (old) => otherId(String(old))),
]

/** A kind of fault at one path of what a step hands over. */
export function value(
  name: string,
  about: string,
  isOne: (value: Json, path: string) => boolean,
  change: (old: Json, args: FaultArgs) => Json,
  more: ArgumentRanges = {},
  family: AnswerKind['family'] = 'values',
): AnswerKind {
  return {
    name,
    family,
    about,
    changes: 'answer',
    lasts: 'always',
    fits({ step }) {
      const given = handedOver(step)
      if (given === undefined) return undefined
      const [first, ...rest] = valuesIn(given).flatMap((leaf) => (isOne(leaf.value, leaf.path) ? [leaf.path] : []))
      return first === undefined ? undefined : { path: { oneOf: [first, ...rest] }, ...more }
    },
    rewrite({ step }, args) {
      const given = handedOver(step)
      if (given === undefined) return step
      return handingOver(
        step,
        withValueAt(given, textIn(args, 'path'), (old) => change(old, args)),
      )
    },
  }
}

/** Values JSON has no word for are objects with a `$type`; what is inside them is no value of the tool. */
function isNumber(one: Json, path: string): boolean {
  return typeof one === 'number' && !path.includes('["$type"]')
}

function hasDigitsToSwap(one: Json, path: string): boolean {
  return isNumber(one, path) && swappable(String(Math.abs(Number(one)))).length > 0
}

/** Where two neighbouring digits differ. */
function swappable(digits: string): readonly number[] {
  return [...digits].flatMap((digit, i) => {
    const next = digits[i + 1]
    return /\d/.test(digit) && next !== undefined && /\d/.test(next) && next !== digit ? [i] : []
  })
}

function transposed(number: number, which: number): number {
  const digits = String(Math.abs(number))
  const places = swappable(digits)
  const at = places[which % Math.max(1, places.length)]
  if (at === undefined) return number
  const other = `${digits.slice(0, at)}${digits[at + 1] ?? ''}${digits[at] ?? ''}${digits.slice(at + 2)}`
  return Number(other) * Math.sign(number)
}

/** A map whose first two fields of one type and different values have changed places. */
function swapped(one: Json): Json | undefined {
  if (typeof one !== 'object' || one === null || Array.isArray(one) || '$type' in one) return undefined
  const fields = Object.entries(one) as readonly (readonly [string, Json])[]
  for (const [i, [a, left]] of fields.entries()) {
    const other = fields
      .slice(i + 1)
      .find(([, right]) => isPlain(left) && typeof right === typeof left && right !== left)
    if (other !== undefined) return { ...one, [a]: other[1], [other[0]]: left }
  }
  return undefined
}

function isPlain(one: Json): boolean {
  return one !== null && typeof one !== 'object'
}

/** Letters and digits without a blank, such as `A-100`. */
function isId(one: Json): boolean {
  return typeof one === 'string' && /^(?=.*\d)(?=.*[\p{L}_-])\S{2,64}$/u.test(one) && !/^\d{4}-\d{2}-\d{2}/.test(one)
}

/** The last digit is the next one. */
export function otherId(id: string): string {
  return id.replace(/\d(?=\D*$)/, (digit) => String((Number(digit) + 1) % 10))
}
