/** Those of an answer without a word: a limit of tokens cut it off, the model declined, or made a call that cannot be read. */
const withoutAWord: readonly string[] = [
  'length maxtokens maxoutputtokens tokenlimit incomplete modellength modelcontextwindowexceeded refusal',
  'alternativestatustruncatedfinal malformedmodeloutput malformedtooluse malformedfunctioncall unexpectedtoolcall',
  'toomanytoolcalls missingthoughtsignature',
]

/**
 * The reasons for an end that providers document for an answer that is the model's own, without case and signs: `tool_calls`,
 * `tool-calls`. All others say that the provider could not go on, or say nothing.
 */
const ends = setOf([
  ...withoutAWord,
  // OpenAI, and those that answer as it does.
  'stop toolcalls functioncall contentfilter completed requiresaction eos eostoken toolcall sensitive succeeded',
  // Anthropic, Amazon Bedrock.
  'endturn stopsequence tooluse pauseturn guardrailintervened contentfiltered finish finished endoftext',
  // Google.
  'safety recitation language blocklist prohibitedcontent spii imagesafety imageprohibitedcontent imagerecitation',
  'noimage modelarmor',
  // Cohere, Yandex.
  'complete errortoxic alternativestatusfinal alternativestatuscontentfilter alternativestatustoolcalls',
])

const silent = setOf(withoutAWord)

/** Whether an answer with this reason is one of the model. */
export function isEndOfModel(finish: string): boolean {
  return ends.has(plain(finish))
}

/** Whether an answer with this reason is one of the model even where nothing else came of it. */
export function isSilentEnd(finish: string): boolean {
  return silent.has(plain(finish))
}

function setOf(lines: readonly string[]): ReadonlySet<string> {
  return new Set(lines.flatMap((line) => line.split(' ')))
}

function plain(finish: string): string {
  return finish.toLowerCase().replaceAll(/[^a-z]/g, '')
}
