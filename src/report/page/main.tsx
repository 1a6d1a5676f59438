import { render } from 'preact'
import type { GoldenData, ReportData } from '../view/types.ts'
import { Agents } from './agents.tsx'
import { Blame } from './blame.tsx'
import { Branches } from './branches.tsx'
import { Compare } from './compare.tsx'
import { plain } from './format.ts'
import { Golden } from './golden.tsx'
import { Band, Head, Help } from './head.tsx'
import { onKey } from './keys.ts'
import { List } from './list.tsx'
import { data, firstStep, followAddress, golden, isPrinting, step, tab, toast, view } from './state.ts'
import { Panel } from './step.tsx'

function Views() {
  if (view.value === 'compare') return <Compare />
  if (view.value === 'agents') return <Agents />
  if (view.value === 'branches') return <Branches />
  return (
    <div class="run">
      <List />
      <Panel />
      <aside class="pane right" aria-label="Blame">
        <Blame />
      </aside>
    </div>
  )
}

function App() {
  if (golden.value !== undefined) return <Golden held={golden.value} />
  return (
    <>
      <Head />
      <Band />
      <Views />
      <Help />
      {toast.value !== '' && (
        <div class="toast" role="status">
          {toast.value}
        </div>
      )}
    </>
  )
}

/** The data block: JSON, or gzip in base64 where it is large. Nothing is fetched. */
async function read(): Promise<ReportData | GoldenData> {
  const block = document.getElementById('data')
  const held = block?.textContent ?? ''
  if (block?.getAttribute('type') === 'application/json') return JSON.parse(held) as ReportData
  const bytes = Uint8Array.from(atob(held.trim()), (character) => character.charCodeAt(0))
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))
  return JSON.parse(await new Response(unpacked).text()) as ReportData
}

async function main(): Promise<void> {
  const held = await read()
  if (held.kind === 'golden') {
    golden.value = held
    document.title = 'golden set'
  } else {
    data.value = held
    if (held.replay !== undefined && step.value === 0) tab.value = 'now'
    if (step.value === 0) step.value = firstStep(held)
    document.title = `${plain(held.run.agent)} · step by step`
  }
  followAddress()
  addEventListener('keydown', onKey)
  addEventListener('beforeprint', () => (isPrinting.value = true))
  addEventListener('afterprint', () => (isPrinting.value = false))
  const app = document.getElementById('app')
  if (app === null) return
  // The words for browsers without scripts.
  app.textContent = ''
  render(<App />, app)
  performance.mark?.('shown')
}

void main()
