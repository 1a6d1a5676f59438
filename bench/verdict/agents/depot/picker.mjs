// Picks whatever it is told, and tells the world of the bench what that was and how it was started.
import { createInterface } from 'node:readline'

const say = (line) => console.log(JSON.stringify(line))
for await (const text of createInterface({ input: process.stdin })) {
  const line = JSON.parse(text)
  const body = JSON.stringify({ started: process.argv.slice(2), line })
  await fetch(`${process.env.GATEWAY}/picker`, { method: 'POST', body })
  if (line.type === 'start') say({ type: 'ready' })
  if (line.type === 'pick') say({ type: 'picked', pieces: 12 })
  if (line.type === 'stop') process.exit(0)
}
