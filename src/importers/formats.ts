import { anthropicAgent } from './anthropic-agent.ts'
import { aimock } from './aimock.ts'
import { ddTestAgent } from './dd-test-agent.ts'
import type { BytesFormat, ForeignDocument, ForeignFormat } from './document.ts'
import { goVcr } from './go-vcr.ts'
import { har } from './har.ts'
import { httprr } from './httprr.ts'
import { nock } from './nock.ts'
import { otlp } from './otlp.ts'
import { otelSpans } from './otel-spans.ts'
import { jaeger } from './jaeger.ts'
import { langsmith } from './langsmith.ts'
import { langfuse } from './langfuse.ts'
import { braintrust } from './braintrust.ts'
import { deepeval } from './deepeval.ts'
import { type NearestFormat, nearestTo, unknownFormat } from './nearest-format.ts'
import { rubyVcr } from './ruby-vcr.ts'
import { adk } from './runs/adk.ts'
import { agentLog } from './runs/agent-log.ts'
import { agentDojo } from './runs/agentdojo.ts'
import { atif } from './runs/atif.ts'
import { chat } from './runs/chat.ts'
import { codex } from './runs/codex.ts'
import { copilot } from './runs/copilot.ts'
import { geminiCli } from './runs/gemini-cli.ts'
import { geminiResponses } from './runs/gemini-responses.ts'
import { gooseScenario } from './runs/goose.ts'
import { inspectAi, inspectEval } from './runs/inspect.ts'
import { mcpJsonLines, mcpLog } from './runs/mcp-log.ts'
import { openHands } from './runs/openhands.ts'
import { claudeCode, piSession } from './runs/sessions.ts'
import { miniSweAgent, sweAgent } from './runs/swe-agent.ts'
import { tapeAgents } from './runs/tapeagents.ts'
import { tau2Bench, tauBench } from './runs/tau-bench.ts'
import { temporal } from './runs/temporal.ts'
import { toolBench } from './runs/toolbench.ts'
import { whoAndWhen } from './runs/who-and-when.ts'
import type { ImportFormat } from './types.ts'
import { undiciSnapshot } from './undici-snapshot.ts'
import { vcrpy } from './vcrpy.ts'

/** Formats of text. A document is in one of them at most; the order is that in which they are asked. */
export const formats: readonly ForeignFormat[] = [
  rubyVcr,
  har,
  vcrpy,
  goVcr,
  aimock,
  ddTestAgent,
  nock,
  undiciSnapshot,
  otlp,
  otelSpans,
  jaeger,
  langsmith,
  langfuse,
  braintrust,
  deepeval,
  anthropicAgent,
  temporal,
  mcpJsonLines,
  tauBench,
  tau2Bench,
  agentDojo,
  sweAgent,
  miniSweAgent,
  whoAndWhen,
  tapeAgents,
  inspectAi,
  toolBench,
  openHands,
  atif,
  adk,
  geminiResponses,
  copilot,
  gooseScenario,
  piSession,
  claudeCode,
  codex,
  geminiCli,
  agentLog,
  chat,
]

/** Formats that are no text; their first bytes tell. */
export const bytesFormats: readonly BytesFormat[] = [httprr, mcpLog, inspectEval]

/** Whether the first bytes of a file are those of a recording, regardless of its name. */
export function isToldByBytes(head: Buffer): boolean {
  return bytesFormats.some(({ recognisesBytes }) => recognisesBytes(head))
}

/**
 * The format of a document: the one that was named, or the one whose names it uses.
 *
 * @param unknown - what a refusal says: the nearest format, where it is known already, and the line
 * @throws HarvestError `HARVEST_IMPORT_UNKNOWN`
 */
export function formatOf(
  document: ForeignDocument,
  named?: ImportFormat,
  { nearest, line }: { readonly nearest?: NearestFormat | undefined; readonly line?: number } = {},
): ForeignFormat {
  const { root, isLines } = document
  // One value alone is in no format, no matter which one was named.
  const isOne = !isLines && !root.isMap && !Array.isArray(root.value)
  const isOf = ({ name, recognises }: ForeignFormat): boolean =>
    named === undefined ? recognises(document) : name === named
  const format = isOne ? undefined : formats.find(isOf)
  if (format !== undefined) return format
  throw unknownFormat(document.file, nearest ?? nearestTo(document), line)
}
