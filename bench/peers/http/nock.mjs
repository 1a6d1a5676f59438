// nock back. Both ways of its documentation that make it stricter are used: `lockdown`, and `assertScopesFinished`.
import nock from 'nock'

/** Opens a session; see bench/peers/README.md. */
export async function open(mode, { dir, name, upstream }) {
  nock.back.fixtures = dir
  nock.back.setMode(mode === 'record' ? 'update' : 'lockdown')
  const { nockDone, context } = await nock.back(`${name}.json`)
  return {
    base: upstream,
    async close() {
      nockDone()
      const complaints = mode === 'record' ? [] : complaintsOf(() => context.assertScopesFinished())
      nock.recorder.clear()
      nock.cleanAll()
      nock.restore()
      return complaints
    },
  }
}

function complaintsOf(assert) {
  try {
    assert()
    return []
  } catch (error) {
    return [error.message]
  }
}
