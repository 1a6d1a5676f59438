import { passes } from './values.ts'
import { work } from './work.ts'

/** How far a name goes on beside a part of it: `openai/…`, `…:free`. */
const [longest, field] = [256, String.raw`\\*"\s{0,8}:\s{0,8}\\*"`]
const before = {
  /** `"model":"…"`, `"modelId":"…"`, `"foundationModel":"…"`. */
  ofModel: new RegExp(
    String.raw`(?:"model|"\w{1,32}Model)(?:_?(?:id|name|version|arn|uri))?${field}[^"\\\s]{0,128}$`,
    'i',
  ),
  /** `"functionCall":{"name":"…"`, `"toolUse":{"toolUseId":"…","name":"…"`. */
  ofTool: new RegExp(
    String.raw`"(?:function|functionCall|functionResponse|function_call|toolUse|toolSpec|tool)\\*"\s{0,8}:\s{0,64}\{(?:[^{}]{0,96},)?\s{0,64}\\*"name${field}$|"type${field}(?:function|tool_use|function_call|tool)\\*",(?:[^{}]{0,96},)?\s{0,64}\\*"name${field}$`,
  ),
  ofAny: new RegExp(String.raw`"name${field}$`),
}
const behind = {
  /** `"arguments":`, `"input_schema":`, also behind a text that describes it. */
  ofTool: new RegExp(
    String.raw`^\\*"\s{0,8},\s{0,64}(?:\\*"(?:description|id|call_id)${field}[^"]{0,2048}\\*"\s{0,8},\s{0,64})?\\*"(?:arguments|args|input|parameters|input_schema|inputSchema|parametersJsonSchema)\\*"\s{0,8}:`,
  ),
}

const [inPath, ofPath] = [String.raw`[^\s"\\?#]{0,128}`, String.raw`[^\s"\\?#/]{0,128}`]
/** Addresses that models are asked by: `/models/…:generateContent`, `/model/…/converse`, `/openai/deployments/…/chat`, `/models/ada/…/predictions`. */
const addresses = [
  [String.raw`(?:models|tunedModels|endpoints)\/${inPath}`, String.raw`${inPath}?:[a-zA-Z]{1,32}(?!\w)`],
  [String.raw`model\/${inPath}`, String.raw`${inPath}?\/(?:converse|invoke)(?:-[a-z-]{1,32})?(?!\w)`],
  [String.raw`openai\/deployments\/${ofPath}`, String.raw`${ofPath}\/\w`],
  [String.raw`(?:models|deployments)\/${inPath}`, String.raw`${inPath}?\/predictions(?!\w)`],
].map(([head, tail]) => [new RegExp(String.raw`\/${head}$`), new RegExp(`^${tail}`)] as const)

/** Fields by which a body tells that it asks a model or is its answer, as `src/providers` reads them; in the events of a stream as well. */
const asksModel =
  /"(?:messages|contents|prompt|inputs?|instructions|inputText|chat_history|choices|candidates|generations|embeddings?|outputs?|usage|usageMetadata|response|delta|content|session|documents)\\*"\s{0,8}:/

/** What is made by chance is a secret wherever it stands: no model is called so. */
function isMade(value: string): boolean {
  return passes('nested', value, false) || passes('signature', value, false)
}

/**
 * Whether a protocol names a model or a tool at a place of this text: what is asked, by what a replay tells requests from one another. A secret
 * that is known from elsewhere and is spelled like that is something else there.
 */
export function identifiersIn(text: string): (start: number, end: number) => boolean {
  let isOfModel: boolean | undefined
  const isAskingModel = (): boolean => {
    work.done += text.length >> 4
    return asksModel.test(text)
  }
  return (start, end) => {
    if (isMade(text.slice(start, end))) return false
    const head = text.slice(Math.max(0, start - longest), start)
    const tail = text.slice(end, end + 10 * longest)
    if (before.ofModel.test(head)) return (isOfModel ??= isAskingModel())
    // What stands behind is looked at first: it is tried in one place.
    if (addresses.some(([isBefore, isBehind]) => isBehind.test(tail) && isBefore.test(head))) return true
    if (!head.endsWith('"')) return false
    return before.ofTool.test(head) || (before.ofAny.test(head) && behind.ofTool.test(tail))
  }
}
