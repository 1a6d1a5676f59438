/**
 * The reasons for an end that providers document for an answer that is the model's own, without case and signs: `tool_calls`,
 * `tool-calls`. All others say that the provider could not go on, or say nothing.
 */
const ends: ReadonlySet<string> = new Set(
  [
    // OpenAI, and those that answer as it does.
    'stop length toolcalls functioncall contentfilter completed incomplete maxoutputtokens requiresaction',
    'eos eostoken modellength toolcall tokenlimit sensitive succeeded',
    // Anthropic, Amazon Bedrock.
    'endturn maxtokens stopsequence tooluse pauseturn refusal modelcontextwindowexceeded',
    'guardrailintervened contentfiltered malformedmodeloutput malformedtooluse finish finished endoftext',
    // Google.
    'safety recitation language blocklist prohibitedcontent spii malformedfunctioncall unexpectedtoolcall toomanytoolcalls',
    'imagesafety imageprohibitedcontent imagerecitation noimage missingthoughtsignature modelarmor',
    // Cohere, Yandex.
    'complete errortoxic',
    'alternativestatusfinal alternativestatustruncatedfinal alternativestatuscontentfilter alternativestatustoolcalls',
  ].flatMap((line) => line.split(' ')),
)

/** Whether an answer with this reason is one of the model. */
export function isEndOfModel(finish: string): boolean {
  return ends.has(finish.toLowerCase().replaceAll(/[^a-z]/g, ''))
}
