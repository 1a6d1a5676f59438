// A program that is told secrets on its command line, asks a server, and says all it knows: node program.ts <base> [flags]
import { asText, planted } from '../../privacy/planted.ts'

const [base = '', ...flags] = process.argv.slice(2)
const response = await fetch(`${base}/json/0`, { method: 'POST', body: JSON.stringify({ flags }) })
await response.text()
for (const one of planted) console.log(asText(one))
for (const one of planted) console.error(asText(one))
console.log(flags.length)
