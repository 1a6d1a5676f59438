// Says how many files knip looked at: a knip that knows no entries finds nothing dead.
import type { Reporter } from 'knip'

const report: Reporter = ({ counters }) => {
  console.log(`looked at ${counters.total} files`)
}

export default report
