// The client suite without Vitest: `node test/clients/run.ts [name…]` under any Node that runs TypeScript.
import { printRows, runClients } from './suite.ts'

const wanted = process.argv.slice(2)
const rows = await runClients(...(wanted.length > 0 ? [wanted] : []))
console.log(printRows(rows))
const failed = rows.filter(({ failures }) => failures.length > 0)
for (const { name, failures } of failed) console.log(`\n${name}\n${failures.join('\n')}`)
process.exitCode = failed.length > 0 ? 1 : 0
