export { isBookkeeping } from './bookkeeping.ts'
export { decodeBody } from '../wire/decode.ts'
export { isGenerative, keepsConversation, readAddress } from './dialect.ts'
export { isUnderWay } from './draft.ts'
export { askedIn, asksModel, idOfAnswer, isModelCall, pushedModelCall, readModelCall } from './exchange.ts'
export { canonicalJson } from '../json/canonical.ts'
export { type McpCall, readMcpCall } from './mcp.ts'
export { askedModels, modelIds, promptHash, toolsHash } from './pins.ts'
export { costOf, isPriced, type Price, type PriceTable } from './prices.ts'
export { NamesToFind, onlyModelNamed, reportedUsage, type UsageSource } from './reported-usage.ts'
export { dialectSpoken, readModelRequest } from './request.ts'
export { type RawResponse, readModelResponse } from './response.ts'
export {
  type AskedCall,
  callsOf,
  type Message,
  type MessagePart,
  readMessage,
  resultsOf,
  textOf,
  type ToolResult,
  toolResultsIn,
} from './messages.ts'
export { asksForStream } from './stream-flag.ts'
export { toolNames } from './tool-names.ts'
export { inOneSpelling } from './spelling/index.ts'
export type { Dialect, ModelCall, ModelRequest, ModelResponse, ToolCall, Usage } from './types.ts'
export { type FormedRequest, inOtherForm, readForm, serverSentEvents, transcode, type WireForm } from './wire/index.ts'
