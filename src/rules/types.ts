/** What a rule says, as its parser read it. Plain data: two rules that mean the same thing letter by letter are equal. */

export type Scalar = string | number | boolean | null

/** What a condition compares with: a value, or the value `$name` stands for. */
export type Operand = { readonly literal: Scalar } | { readonly variable: string }

export type RuleComparison = '=' | '!=' | '<' | '<=' | '>' | '>='

/** `/source/flags`, or a text that has to be contained, in upper or lower case. */
export type Pattern = { readonly source: string; readonly flags: '' | 'i' } | { readonly contained: string }

/** One condition on an argument or a result; `path` leads into the value, `['a', 'b']` is `a.b`. */
export type Condition = { readonly path: readonly string[] } & (
  | { readonly op: 'present' }
  | { readonly op: RuleComparison; readonly value: Operand }
  | { readonly op: '~'; readonly pattern: Pattern }
  | { readonly op: 'in'; readonly values: readonly Scalar[] }
)

/** Which moment of a call or of a question to a model: when it was issued, or when its answer or error came. */
export type Phase = 'called' | 'ok' | 'fails' | 'answered'

/** A call of a tool, retriever or named value. `*` in the name stands for any letters. */
export interface CallAtom {
  readonly kind: 'call'
  readonly name: string
  readonly conditions: readonly Condition[]
  /** Absent: when it was issued; where a rule needs it done, when it was answered without an error. */
  readonly phase?: Phase
  /** With the phase `ok`: what the result has to be. */
  readonly returns?: readonly Condition[]
  /** With the phase `fails`: what the error has to say. */
  readonly error?: Pattern
  readonly by?: string
}

export type Measure = 'tokens' | 'cost' | 'elapsed' | 'took' | 'step'

/** What is true at one moment of a run, or not. */
export type Atom =
  | CallAtom
  /** A model asked for a call, run or not. */
  | { readonly kind: 'asks'; readonly name: string; readonly conditions: readonly Condition[] }
  | { readonly kind: 'model'; readonly phase?: Phase; readonly says?: Pattern; readonly by?: string }
  | { readonly kind: 'message'; readonly from?: string; readonly to?: string; readonly says?: Pattern }
  | { readonly kind: 'mark'; readonly name: string; readonly conditions: readonly Condition[] }
  | { readonly kind: 'end'; readonly phase?: 'ok' | 'fails'; readonly returns?: readonly Condition[] }
  /** Tokens and cost so far; time since the run began, and of this answer, in milliseconds; number of the step. */
  | { readonly kind: 'measure'; readonly measure: Measure; readonly op: RuleComparison; readonly value: number }
  | { readonly kind: 'agent'; readonly op: '=' | '!='; readonly name: string }
  /** Steps by number, both ends included. */
  | { readonly kind: 'at'; readonly first: number; readonly last: number }

/** How far apart: in steps issued between, or in milliseconds of the recorded clock. */
export type Window = { readonly steps: number } | { readonly ms: number }

/** `$name op value` behind `where`. */
export interface BindingCondition {
  readonly variable: string
  readonly op: RuleComparison
  readonly value: Operand
}

export type Expression =
  | { readonly type: 'atom'; readonly atom: Atom }
  | { readonly type: 'not' | 'never' | 'always'; readonly operand: Expression }
  | {
      readonly type: 'once' | 'historically' | 'previously' | 'eventually' | 'next'
      readonly operand: Expression
      readonly within?: Window
    }
  | { readonly type: 'and' | 'or' | 'implies'; readonly left: Expression; readonly right: Expression }
  | {
      readonly type: 'since' | 'until' | 'preceded' | 'followed'
      readonly left: Expression
      readonly right: Expression
      readonly within?: Window
    }
  | {
      readonly type: 'count'
      readonly bound: 'most' | 'least' | 'exactly'
      readonly count: number
      readonly operand: Expression
      readonly within?: Window
    }
  | {
      readonly type: 'scope'
      readonly scope: 'before' | 'after'
      readonly operand: Expression
      readonly from: Expression
    }
  | {
      readonly type: 'scope'
      readonly scope: 'between' | 'after-until'
      readonly operand: Expression
      readonly from: Expression
      readonly to: Expression
    }
  | { readonly type: 'where'; readonly operand: Expression; readonly conditions: readonly BindingCondition[] }

/** What a text that is no rule needs: data, for whoever knows the file it stands in. */
export interface RuleProblem {
  readonly text: string
  /** Index in `text`, from 0. */
  readonly column: number
  readonly expected: string
  readonly got: string
  readonly hint?: string
}
