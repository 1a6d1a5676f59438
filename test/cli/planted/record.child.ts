// Records one run for each place: node record.child.ts <folder>
import { asField, asText, planted } from '../../privacy/planted.ts'
import { agent, places } from './agent.ts'
import { createRecorder } from './record.ts'
import { startPlantedServer } from './server.ts'

const [dir = ''] = process.argv.slice(2)
const server = await startPlantedServer()
const recorder = createRecorder({ dir, commit: '4f2a9c1', onWarning: (error) => console.error(error.message) })
for (const place of Object.keys(places)) {
  const notes = place === 'input' ? planted.map((one) => ({ text: asText(one), ...asField(one) })) : 'none'
  const task = { place, base: server.base, notes }
  try {
    await recorder.run({ agent: 'planted', id: place, input: task }, () => agent(task))
  } catch (error) {
    if (place !== 'thrown-error') throw error
  }
}
server.close()
