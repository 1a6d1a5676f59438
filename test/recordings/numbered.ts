/** A case file of some length that says its number at both ends. */
export function numbered(n: number): string {
  return `case: a\nagent: refund\ntape: a.tape.jsonl\nexpect: pass\ntitle: number ${n}\n${'# …\n'.repeat(2_000)}# number ${n}\n`
}
