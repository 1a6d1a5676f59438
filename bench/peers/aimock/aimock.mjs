// aimock: a server of its own in front of the provider. `strict`, so that a replay refuses what it has no fixture for;
// the variable, so that a turn of a conversation is answered by the fixture of that turn.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { LLMock } from '@copilotkit/aimock'

process.env.AIMOCK_STRICT_TURN_INDEX = '1'

/** Opens a session; see bench/peers/README.md. */
export async function open(mode, { dir, name, upstream }) {
  const fixturePath = join(dir, name)
  mkdirSync(fixturePath, { recursive: true })
  const mock = new LLMock({ port: 0, strict: mode === 'replay', logLevel: 'silent' })
  if (mode === 'replay') mock.loadFixtureDir(fixturePath)
  else
    mock.enableRecording({
      providers: { openai: upstream, anthropic: upstream, gemini: upstream, bedrock: upstream },
      fixturePath,
    })
  await mock.start()
  return {
    base: mock.url,
    async close() {
      await mock.stop()
      return []
    },
  }
}
