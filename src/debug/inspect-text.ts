import { neutralLine } from '../errors/index.ts'
import { counted } from '../errors/words.ts'
import { duration } from '../report/describe.ts'
import type { Json } from '../tape/index.ts'
import type { ContextPart, ContextWindow } from './context.ts'
import type { InspectedStep, InspectPart, RawStep } from './inspect.ts'
import { factLines, valueLines } from './text.ts'

/** Columns of a message in the list of a context window. */
const messageWidth = 60

/** A step, or one part of it, for people. */
export function inspectLines(
  step: InspectedStep,
  part: InspectPart | undefined,
  raw: RawStep | undefined,
): readonly string[] {
  switch (part) {
    case undefined:
      return step.kind === 'model' ? modelLines(step) : callLines(step)
    case 'context':
      return modelLines(step)
    case 'args':
      return step.args === undefined
        ? [`step ${step.step} is a ${step.kind} step: it has no arguments`]
        : valueLines(step.args)
    case 'result':
      return resultLines(step)
    case 'clock':
      return clockLines(step)
    case 'state':
      return stateLines(step)
    case 'reads':
      return readLines(step)
    case 'raw':
      return raw === undefined ? [`step ${step.step} is a ${step.kind}: it has values and no bytes`] : rawLines(raw)
    case 'logprobs':
      return logprobLines(step)
    default:
      return part satisfies never
  }
}

function modelLines({ context, kind, call, decided = [], error, step }: InspectedStep): readonly string[] {
  const decision =
    kind !== 'model' ? [] : factLines(decided.length > 0 ? 'decided' : error === undefined ? 'said' : 'failed', call, 3)
  if (context === undefined) return [`no model was asked before step ${step}`, ...decision]
  return [...contextLines(context), ...decision]
}

function contextLines({ parts, tools, tokens, gone, step }: ContextWindow): readonly string[] {
  const fresh = parts.filter(({ isNew }) => isNew).length
  const size =
    tokens === undefined ? `${charactersOf(parts)} characters (the provider counted no tokens)` : `${tokens} tokens`
  const left = gone === 0 ? '' : `, ${gone} gone`
  return [
    `the model saw ${counted(parts.length, 'message')}, ${size}; ${fresh} new${left}`,
    ...(tools.names.length === 0 ? [] : [toolsLine(tools)]),
    ...parts.map((part) => partLine(part, step)),
  ]
}

function charactersOf(parts: readonly ContextPart[]): number {
  return parts.reduce((sum, { text }) => sum + text.length, 0)
}

function toolsLine({ names, tokens }: ContextWindow['tools']): string {
  return `    tools     ${shareText(tokens)}  ${neutralLine(names.join(', '), 78)}`
}

function partLine({ role, text, tokens, isNew, from, ...rest }: ContextPart, step: number): string {
  const size = tokens === undefined ? `${text.length}`.padStart(5) : shareText(tokens)
  const origin = role === 'tool' && from.length > 0 ? `as step ${from.join(', ')} answered` : ''
  const asked = 'isInput' in rest && isNew && step > 1 ? 'from the input' : ''
  const note = origin === '' ? asked : origin
  const head = `  ${isNew ? '+' : ' '} ${neutralLine(role, 9).padEnd(9)} ${size}  `
  return note === ''
    ? `${head}${neutralLine(text, 78)}`
    : `${head}${neutralLine(text, messageWidth - 1).padEnd(messageWidth)}${note}`
}

function shareText(tokens: number | undefined): string {
  return tokens === undefined ? '     ' : `≈${`${tokens}`.padStart(4)}`
}

function callLines(step: InspectedStep): readonly string[] {
  const compact = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value))
  return [
    ...(step.args === undefined ? [] : factLines('args', compact(step.args))),
    ...(step.result === undefined ? [] : factLines('result', compact(step.result))),
    ...(step.error === undefined ? [] : factLines('error', step.error)),
    ...(step.result === undefined && step.error === undefined ? ['result    no answer was recorded'] : []),
    ...clockLines(step),
    ...(step.during.length === 0 ? [] : [`beside    step ${step.during.join(', ')}`]),
    ...(step.inside === undefined ? [] : [`inside    step ${step.inside}`]),
    ...(step.site === undefined ? [] : factLines('site', step.site)),
  ]
}

function resultLines({ kind, result, error, said, decided, call, step }: InspectedStep): readonly string[] {
  if (error !== undefined) return factLines('error', error)
  if (kind === 'model')
    return said === undefined || (decided?.length ?? 0) > 0 ? factLines('decided', call) : valueLines(said)
  return result === undefined ? [`step ${step} has no result: no answer was recorded`] : valueLines(result)
}

function clockLines({ clock: { atMs, time, tookMs } }: InspectedStep): readonly string[] {
  if (atMs === undefined) return ['clock     not known: the recording has no times']
  const when = time === undefined ? '' : `${time}, `
  return [
    `clock     ${when}+${duration(atMs)}, ${tookMs === undefined ? 'no answer was recorded' : `took ${duration(tookMs)}`}`,
  ]
}

function stateLines({ state, step }: InspectedStep): readonly string[] {
  if (state.length === 0) return [`no state was left up to step ${step}: state(name, value) leaves some`]
  return state.flatMap(({ name, data, beforeStep, atMs }) => {
    const place = beforeStep === undefined ? 'after the last step' : `before step ${beforeStep}`
    return [`${neutralLine(name, 60)}  (${place}, +${duration(atMs)})`, ...valueLines(data, 20)]
  })
}

function readLines({ reads, step }: InspectedStep): readonly string[] {
  if (reads.length === 0) return [`no clock, random or id value was read between step ${step - 1} and step ${step}`]
  return [
    `${counted(reads.length, 'value')} read before step ${step}`,
    ...reads
      .slice(0, 50)
      .map(
        ({ kind, caller, value }) =>
          `  ${kind.padEnd(6)} ${neutralLine(JSON.stringify(value), 60)}  ${neutralLine(caller, 25)}`,
      ),
    ...(reads.length > 50 ? [`  … ${counted(reads.length - 50, 'more value')}`] : []),
  ]
}

function logprobLines({ logprobs, step, kind }: InspectedStep): readonly string[] {
  if (logprobs === undefined)
    return [
      kind === 'model' ? `the provider gave no log probabilities with step ${step}` : `step ${step} is no model call`,
    ]
  const percent = (logprob: number): string => `${(Math.exp(logprob) * 100).toFixed(1)} %`.padStart(7)
  return [
    `${counted(logprobs.length, 'token')}`,
    ...logprobs.slice(0, 60).map(({ token, logprob, others }) => {
      const rest = others
        .filter((other) => other.token !== token)
        .map((other) => `${JSON.stringify(other.token)} ${percent(other.logprob).trim()}`)
      return `  ${percent(logprob)}  ${neutralLine(JSON.stringify(token), 30).padEnd(30)}  ${neutralLine(rest.join(', '), 55)}`.trimEnd()
    }),
    ...(logprobs.length > 60 ? [`  … ${counted(logprobs.length - 60, 'more token')}`] : []),
  ]
}

function rawLines({
  method,
  url,
  status,
  requestHeaders,
  request,
  responseHeaders = [],
  response,
}: RawStep): readonly string[] {
  const headers = (list: RawStep['requestHeaders']): readonly string[] =>
    list.map(([name, value]) => `  ${neutralLine(`${name}: ${value}`, 96)}`)
  return [
    neutralLine(`request   ${method} ${url}`, 100),
    ...headers(requestHeaders),
    ...(request === undefined ? [] : valueLines(request, 200)),
    `response  ${status ?? 'none'}`,
    ...headers(responseHeaders),
    ...(response === undefined ? [] : valueLines(response, 200)),
  ]
}
