import { lintSource } from '@secretlint/core'
import { creator } from '@secretlint/secretlint-rule-preset-recommend'

const config = { rules: [{ id: '@secretlint/secretlint-rule-preset-recommend', rule: creator }] }

/** Takes out what the recommended preset reports. */
export async function text(given) {
  const source = { filePath: 'text.txt', content: given, ext: '.txt', contentType: 'text' }
  const { messages } = await lintSource({ source, options: { config, noPhysicFilePath: true } })
  let now = given
  for (const { range } of [...messages].sort((a, b) => b.range[0] - a.range[0]))
    now = `${now.slice(0, range[0])}redacted-secret-1${now.slice(Math.max(...range))}`
  return now
}
