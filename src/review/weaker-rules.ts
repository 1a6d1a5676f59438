import type { Case } from '../cases/index.ts'
import { parseRule } from '../rules/index.ts'
import { compareRules, type RuleChange } from '../rules/index.ts'
import type { Weakening } from './weakened.ts'

/** Rules that went, or were changed into others that refuse less; what is not known to refuse as much counts. */
export function weakerRules({ rules: was = [] }: Case, { rules: is = [], lines }: Case): readonly Weakening[] {
  const gone = was.filter((rule) => !is.includes(rule))
  const open = is.flatMap((rule, at) => (was.includes(rule) ? [] : [{ rule, at }]))
  return gone.flatMap((rule): readonly Weakening[] => {
    const judged = open.map((one) => ({ ...one, change: changeOf(rule, one.rule) }))
    const next =
      judged.find(({ change }) => change === 'same' || change === 'stricter') ??
      judged.find(({ change }) => change === 'weaker')
    if (next === undefined)
      return [{ field: 'rules', what: `removed: ${rule}`, ...(lines.rules === undefined ? {} : { line: lines.rules }) }]
    open.splice(
      open.findIndex(({ at }) => at === next.at),
      1,
    )
    if (next.change !== 'weaker') return []
    const line = lines.ruleItems[next.at]
    return [{ field: 'rules', what: `${rule} → ${next.rule}`, ...(line === undefined ? {} : { line }) }]
  })
}

function changeOf(before: string, after: string): RuleChange {
  const [one, other] = [parseRule(bare(before)), parseRule(bare(after))]
  return 'problem' in one || 'problem' in other ? 'other' : compareRules(one.expression, other.expression)
}

/** Without the name of the rule before it: `refund-cap: never …`. */
function bare(rule: string): string {
  return rule.replace(/^[a-z0-9][a-z0-9._-]*:\s+/, '')
}
