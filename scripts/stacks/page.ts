import type { StackOutcome } from './outcome.ts'

const head = `# Stacks

Each row is a stack that was installed from npm into a folder of its own and recorded, promoted and replayed there, with an agent of a few lines.

* **Records**: against a provider on this machine. The number is that of the steps on the tape.
* **Promotes**, **replays**: in a process of its own, with the provider gone. A canary listens in its place; no request may reach it.
* **Break**: the error code of the red case after an edit of the agent. Another tool result or another question gives
  [\`HARVEST_UNPROVEN\`](replaying.md#three-verdicts), and the message shows the edit. Another query parameter, call, text to embed or line to a child gives
  [\`HARVEST_DIVERGENCE\`](errors.md).
* **Refused**: no case can be made, because the recorder does not see its requests, or its add-on may use the network. The number in brackets counts the requests that reach the canary once the add-on is allowed by name.
* **What to write**: beside the [recorder](recording.md). A dash is nothing.

| Stack | Packages | Records | Promotes | Replays | Break | What to write |
|---|---|---|---|---|---|---|
`

/** The page that says what the saved results say. */
export function stacksPage(results: Readonly<Record<string, StackOutcome>>): string {
  const rows = Object.values(results)
  const reached = rows.reduce((sum, { canary }) => sum + canary, 0)
  const end = `\n${rows.length} rows; ${reached} requests reached the canary. \`npm run test:stacks\` in the repository of this package writes this page.\n`
  return `${head}${rows.map(line).join('')}${end}${next}`
}

const next = '\nNext: [recording](recording.md), [what cannot be recorded](boundary.md), [databases](databases.md).\n'

function line(row: StackOutcome): string {
  const { stack, packages, agent, steps, promotes, replays, red, refused, write } = row
  const versions = Object.entries(packages).map(([name, version]) => `\`${name}@${version}\``)
  const cells = [
    `[${stack}](../fixtures/stacks/agents/${agent}.js)`,
    versions.join(', '),
    steps === 0 ? `no: ${row.unrecorded.join(', ')}` : `${steps}`,
    promotes ? 'yes' : `refused: \`${refused}\``,
    replays ? 'yes' : row.leaks === undefined ? 'refused' : `refused (${row.leaks})`,
    red === undefined ? '' : `\`${red}\``,
    write ?? '-',
  ]
  return `| ${cells.join(' | ')} |\n`
}
