import type { Json } from '../../tape/types.ts'
import { isList, isMap, type JsonMap } from '../../json/canonical.ts'

/** Addresses of Google's API that take a conversation. Others may have fields of these names and keep to other rules. */
const addresses = /^[^?#]*(?::|%3[aA])(?:generateContent|streamGenerateContent|countTokens)\/*(?:[?#]|$)/

/** Deeper fields keep their spelling. Schemas are not that deep, and a request must not be able to end the stack. */
const maxDepth = 64

/**
 * A request to Gemini with its fields in camel case and its bytes in the standard alphabet of base64. Google's API reads
 * `system_instruction` and `systemInstruction` as the same field, and both alphabets, as every parser of proto3 JSON does:
 * all spellings ask one question. SDKs for Python mix them.
 *
 * Renamed are the fields listed here and no others. What is data is left alone, though it looks like a field: arguments
 * and results of functions, JSON schemas, names of properties, labels. Where a map has a field in both spellings, it keeps
 * them. Never throws.
 *
 * @param url - of the request; a body sent anywhere else is left alone
 * @returns the body itself where there is nothing to change
 * @see https://protobuf.dev/programming-guides/json/
 */
export function withGeminiNames(url: string, body: JsonMap): JsonMap {
  return isGeminiAddress(url) ? renamed('', body, 0) : body
}

export function isGeminiAddress(url: string): boolean {
  return addresses.test(url)
}

/** @param field - whose value the map is */
function renamed(field: string, map: JsonMap, depth: number): JsonMap {
  return changed(
    map,
    (key) => nameOf(key, map),
    (name, value) => {
      const isBytes = name === 'thoughtSignature' || (name === 'data' && field === 'inlineData')
      return isBytes && typeof value === 'string' ? inStandardAlphabet(value) : insideOf(name, value, depth + 1)
    },
  )
}

/** Base64 as it is written mostly, padded; what is not Base64 stays as it is. */
function inStandardAlphabet(text: string): string {
  const [, digits] = /^([A-Za-z0-9+/_-]*)={0,2}$/.exec(text) ?? []
  if (digits === undefined) return text
  const standard = digits.replaceAll('-', '+').replaceAll('_', '/')
  return standard.padEnd(Math.ceil(standard.length / 4) * 4, '=')
}

/** A map with other names and values, or the map itself when all stay. */
function changed(map: JsonMap, name: (key: string) => string, inside: (name: string, value: Json) => Json): JsonMap {
  const before = Object.entries(map)
  const after = before.map(([key, value]): [string, Json] => [name(key), inside(name(key), value)])
  const isSame = after.every(([key, value], i) => key === before[i]?.[0] && value === before[i][1])
  return isSame ? map : Object.fromEntries(after)
}

function nameOf(key: string, map: JsonMap): string {
  const camel = key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
  return fields.has(camel) && !Object.hasOwn(map, camel) ? camel : key
}

function insideOf(field: string, value: Json, depth: number): Json {
  if (data.has(field) || depth > maxDepth) return value
  if (isList(value)) {
    const items = value.map((item) => (isMap(item) ? renamed(field, item, depth) : item))
    return items.every((item, i) => item === value[i]) ? value : items
  }
  if (!isMap(value)) return value
  // The names of properties are data, their schemas are not.
  if (field === 'properties') {
    return changed(value, String, (_, schema) => (isMap(schema) ? renamed(field, schema, depth + 1) : schema))
  }
  return renamed(field, value, depth)
}

/** Fields whose value is the caller's own: maps, structs, values. */
const data: ReadonlySet<string> = new Set(
  'args response parametersJsonSchema responseJsonSchema labels default example enum'.split(' '),
)

/**
 * Fields of requests whose names have two spellings.
 *
 * @see https://ai.google.dev/api/generate-content and https://ai.google.dev/api/caching
 */
const fields: ReadonlySet<string> = new Set(
  [
    'systemInstruction generationConfig safetySettings toolConfig cachedContent serviceTier generateContentRequest',
    'functionDeclarations functionCallingConfig allowedFunctionNames retrievalConfig latLng languageCode',
    'googleSearch googleSearchRetrieval googleMaps codeExecution urlContext computerUse fileSearch enterpriseWebSearch',
    'dynamicRetrievalConfig dynamicThreshold fileSearchStoreNames metadataFilter timeRangeFilter startTime endTime',
    'functionCall functionResponse executableCode codeExecutionResult thoughtSignature inlineData fileData',
    'mimeType fileUri displayName videoMetadata startOffset endOffset mediaResolution willContinue',
    'candidateCount stopSequences maxOutputTokens topP topK responseMimeType responseSchema responseJsonSchema',
    'responseModalities responseLogprobs presencePenalty frequencyPenalty enableEnhancedCivicAnswers',
    'thinkingConfig includeThoughts thinkingBudget thinkingLevel imageConfig aspectRatio imageSize',
    'speechConfig voiceConfig prebuiltVoiceConfig voiceName multiSpeakerVoiceConfig speakerVoiceConfigs',
    'parametersJsonSchema anyOf minItems maxItems minLength maxLength minProperties maxProperties propertyOrdering',
  ]
    .join(' ')
    .split(' '),
)
