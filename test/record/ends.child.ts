// node ends.child.ts FOLDER HOW: three runs, one of them over, when the process ends by exit, a throw, or kill -9; `quiet`: by exit, errors not kept.
import { createRecorder, mark } from '../../src/record/index.ts'

const [dir = '', how = ''] = process.argv.slice(2)
const forever = (): Promise<void> => new Promise(() => undefined)
const working = (): Promise<void> => {
  mark('under way')
  return forever()
}
const some = createRecorder({ dir, sample: 0, ...(how === 'quiet' && { keep: { errors: false } }) })
void createRecorder({ dir }).run({ agent: 'a', id: 'certain' }, working)
void some.run({ agent: 'a', id: 'open' }, working)
some.run({ agent: 'a', id: 'dropped' }, () => 1)
some.run({ agent: 'a', id: 'flagged' }, ({ flag }) => flag('x'))
if (how === 'exit' || how === 'quiet') process.exit()
if (how === 'throw') throw new Error('not caught')
process.kill(process.pid, 'SIGKILL')
