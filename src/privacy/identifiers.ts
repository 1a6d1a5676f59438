/** How far a name goes on beside a part of it: `openai/…`, `…:free`. */
const [longest, field] = [256, String.raw`\\*"\s{0,8}:\s{0,8}\\*"`]
const before = {
  /** `"model":"…"`, `"modelId":"…"`, `"foundationModel":"…"`. */
  ofModel: new RegExp(
    String.raw`(?:\\*"model|\\*"\w{1,32}Model)(?:_?(?:id|name|version|arn|uri))?${field}[^"\\\s]{0,128}$`,
    'i',
  ),
  /** `/models/…`, `/model/…`, `/openai/deployments/…`. */
  inPath: /\/(?:models?|tunedModels|endpoints|openai\/deployments)\/[^\s"\\?#]{0,128}$/,
  /** `"functionCall":{"name":"…"`, `"toolUse":{"toolUseId":"…","name":"…"`. */
  ofTool: new RegExp(
    String.raw`\\*"(?:function|functionCall|functionResponse|function_call|toolUse|toolSpec|tool)\\*"\s{0,8}:\s{0,64}\{(?:[^{}]{0,96},)?\s{0,64}\\*"name${field}$|\\*"type${field}(?:function|tool_use|function_call|tool)\\*",(?:[^{}]{0,96},)?\s{0,64}\\*"name${field}$`,
  ),
  ofAny: new RegExp(String.raw`\\*"name${field}$`),
}
const behind = {
  inPath: /^[^\s"\\?#]{0,128}?(?::[a-zA-Z]{1,32}(?![\w])|\/(?:converse|invoke)|\/)/,
  /** `"arguments":`, `"input_schema":`, also behind a text that describes it. */
  ofTool: new RegExp(
    String.raw`^\\*"\s{0,8},\s{0,64}(?:\\*"(?:description|id|call_id)${field}[^"]{0,2048}\\*"\s{0,8},\s{0,64})?\\*"(?:arguments|args|input|parameters|input_schema|inputSchema|parametersJsonSchema)\\*"\s{0,8}:`,
  ),
}

/**
 * Whether a protocol names a model or a tool here: what is asked, by what a replay tells requests from one another. A secret that is known from
 * elsewhere and is spelled like that is something else here.
 */
export function isIdentifier(text: string, start: number, end: number): boolean {
  const head = text.slice(Math.max(0, start - longest), start)
  const tail = text.slice(end, end + 10 * longest)
  if (before.ofModel.test(head)) return true
  if (before.inPath.test(head) && behind.inPath.test(tail)) return true
  return before.ofTool.test(head) || (before.ofAny.test(head) && behind.ofTool.test(tail))
}
