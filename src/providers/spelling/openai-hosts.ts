import { readAddress } from '../dialect.ts'
import { type JsonMap, textAt } from '../../json/canonical.ts'

/**
 * Whether a request goes to a model of OpenAI at OpenAI or at Azure. Many others speak the dialect: they have other defaults,
 * and some refuse the role `developer`. A server on this machine is one of these, no matter what stands behind it.
 *
 * Azure hosts models of others as well, and a deployment has the name its owner gave it: only a name of OpenAI's own models
 * tells. Of these, gpt-oss is left out: its format has system and developer messages side by side.
 */
export function isOpenAi(url: string, body: JsonMap): boolean {
  if (!URL.canParse(url)) return false
  const host = new URL(url).hostname.replace(/\.$/, '')
  if (host === 'api.openai.com' || host.endsWith('.api.openai.com')) return true
  if (!/\.(openai|cognitiveservices|services\.ai)\.azure\.com$/.test(host)) return false
  return /^(gpt-(?!oss)|chatgpt-|o\d)/i.test(readAddress(url).model ?? textAt(body, 'model') ?? '')
}
