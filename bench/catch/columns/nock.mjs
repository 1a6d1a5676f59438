// nock back in `lockdown`, and every recorded request has to be asked for (`assertScopesFinished`).
import { mkdirSync } from 'node:fs'
import nock from 'nock'

export async function open(mode, { dir, name }) {
  mkdirSync(dir, { recursive: true })
  nock.back.fixtures = dir
  nock.back.setMode(mode === 'record' ? 'update' : 'lockdown')
  const { nockDone, context } = await nock.back(`${name}.json`)
  return {
    async close() {
      nockDone()
      try {
        if (mode === 'replay') context.assertScopesFinished()
      } finally {
        nock.recorder.clear()
        nock.cleanAll()
        nock.restore()
      }
    },
  }
}
