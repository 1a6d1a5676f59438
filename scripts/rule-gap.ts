import { readFileSync } from 'node:fs'
import { gapsOf, readRules } from './rules/gap.ts'

/**
 * Draws a string from every pattern of a foreign rule list (the TOML of gitleaks) and prints the ids of the rules whose
 * strings our finders leave. To be run before a release, by hand, on a file that is not in the repository: what it prints
 * is a list of vendors to look up, and no pattern is taken over.
 *
 *     node scripts/rule-gap.ts <gitleaks.toml> [--seed 1]
 */
const [file, , seed = '1'] = process.argv.slice(2)
if (file === undefined) {
  console.error('usage: node scripts/rule-gap.ts <gitleaks.toml> [--seed 1]')
  process.exit(2)
}
const { drawn, undrawable, missed } = gapsOf(readRules(readFileSync(file, 'utf8')), Number(seed))
console.log(
  `${drawn} rules drawn, ${drawn - missed.length} found, ${missed.length} missed, ${undrawable.length} not to be drawn`,
)
for (const { id, text } of missed) console.log(`missed  ${id}  ${text.slice(0, 100)}`)
for (const id of undrawable) console.log(`undrawn ${id}`)
