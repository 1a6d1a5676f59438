// A program that is told secrets on its command line, asks a server, and says all it knows: node program.ts <base> [flags]
import { asText, planted } from '../../privacy/planted.ts'
import { batches } from './agent.ts'

const [base = '', ...flags] = process.argv.slice(2)
const response = await fetch(`${base}/json/0`, { method: 'POST', body: JSON.stringify({ flags }) })
console.log(await response.text())
for (const flag of flags) console.log(flag)
// What it was not told: a replay is told placeholders, and cannot know that they stand for what it knows by itself.
const own = planted.filter((one, at) => at % 7 !== 0 && !batches[0]?.includes(one))
for (const one of own) console.log(asText(one))
for (const one of own) console.error(asText(one))
