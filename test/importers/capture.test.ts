import { describe, expect, it } from 'vitest'
import { imported } from './samples.ts'

const otel = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'gpt-5', 'gen_ai.usage.input_tokens': 9 }

/** A trace of one model call with these attributes, and of a tool call. */
function traceOf(attributes: object): ReturnType<typeof imported> {
  const span = (id: string, own: object): object => ({
    name: `chat ${id}`,
    context: { trace_id: '0x0a', span_id: id },
    start_time: '2026-03-04T05:06:07Z',
    end_time: '2026-03-04T05:06:08Z',
    attributes: own,
  })
  const tool = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'lookup_order' }
  return imported(JSON.stringify([span('0x01', attributes), span('0x02', tool)]))
}

describe('a trace that captured no content says how to switch it on', () => {
  it.each([
    ['OpenTelemetry GenAI', otel, 'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true'],
    ['OpenTelemetry GenAI', otel, 'span_only with OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental'],
    ['OpenLLMetry', { ...otel, 'llm.request.type': 'chat' }, 'TRACELOOP_TRACE_CONTENT=true'],
    ['OpenLLMetry', { ...otel, 'llm.request.type': 'chat', 'gen_ai.prompt.0.role': 'user' }, 'traceContent: true'],
    ['AI SDK', { 'ai.operationId': 'ai.generateText.doGenerate', 'ai.model.id': 'gpt-5' }, 'recordInputs: true'],
    ['AI SDK', { 'ai.operationId': 'ai.streamText.doStream', 'ai.model.id': 'gpt-5', ...otel }, 'recordOutputs: true'],
    [
      'OpenInference',
      { 'openinference.span.kind': 'LLM', 'input.value': '__REDACTED__', 'output.value': '__REDACTED__' },
      'OPENINFERENCE_HIDE_INPUTS=false and OPENINFERENCE_HIDE_OUTPUTS=false',
    ],
    ['Google ADK', { ...otel, 'gcp.vertex.agent.llm_request': '{}' }, 'ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=true'],
    ['Azure AI', { ...otel, 'az.namespace': 'x' }, 'AZURE_TRACING_GEN_AI_CONTENT_RECORDING_ENABLED=true'],
    ['Pydantic AI', { ...otel, model_request_parameters: '{}' }, 'InstrumentationSettings(include_content=True)'],
  ] as const)('%s: %j', (name, attributes, set) => {
    const { facts } = traceOf(attributes)
    expect(facts).toMatchObject({
      modelCalls: 1,
      uncaptured: { what: 'content', switches: [expect.stringContaining(`${name}: set `)] },
    })
    expect(facts.uncaptured?.switches[0]).toContain(set)
    expect(facts.missing).toContain('content')
  })

  it('events that only name who spoke are no content', () => {
    const named = { name: 'gen_ai.user.message', attributes: { 'gen_ai.system': 'openai' } }
    const empty = {
      name: 'gen_ai.choice',
      attributes: { index: 0, finish_reason: 'stop', message: '{"role":"assistant"}' },
    }
    const span = {
      name: 'chat',
      context: { trace_id: '0x0a', span_id: '0x01' },
      attributes: otel,
      events: [named, empty],
    }
    expect(imported(JSON.stringify([span])).facts.uncaptured?.what).toBe('content')
  })

  it('which half is left out is said, and nothing of one that has both', () => {
    const asked = { ...otel, 'gen_ai.input.messages': '[{"role":"user","parts":[{"type":"text","content":"Hi"}]}]' }
    const answered = '[{"role":"assistant","parts":[{"type":"text","content":"Hello"}]}]'
    expect(traceOf(asked).facts.uncaptured?.what).toBe('outputs')
    expect(traceOf({ ...otel, 'gen_ai.output.messages': answered }).facts.uncaptured?.what).toBe('inputs')
    const whole = traceOf({ ...asked, 'gen_ai.output.messages': answered }).facts
    expect(whole.uncaptured).toBeUndefined()
    expect(whole.missing).not.toContain('content')
  })
})
