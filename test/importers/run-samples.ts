import type { ImportFormat } from '../../src/importers/index.ts'

/** A call as OpenAI writes it. */
const call = { id: 'call_1', type: 'function', function: { name: 'lookup_order', arguments: '{"order_id":"A-17"}' } }

/** A conversation in which one order is looked up. */
export const talk = [
  { role: 'system', content: 'Help the customer.' },
  { role: 'user', content: 'Look up A-17.' },
  { role: 'assistant', content: null, tool_calls: [call] },
  { role: 'tool', tool_call_id: 'call_1', name: 'lookup_order', content: 'paid' },
  { role: 'assistant', content: 'A-17 is paid.' },
]

/** A payload of Temporal. */
export function payload(value: unknown): object {
  return { metadata: { encoding: base64('json/plain') }, data: base64(JSON.stringify(value)) }
}

export function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}

/** JSON Lines. */
export function lines(...values: readonly unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('')
}

/** One event of a Temporal history, so many seconds after it began. */
export function happened(id: number, seconds: number, type: string, attributes: object): object {
  const words = type.split('_').map((word) => word.charAt(0) + word.slice(1).toLowerCase())
  const name = words.join('')
  return {
    eventId: `${id}`,
    eventTime: new Date(Date.parse('2026-03-04T05:06:07Z') + seconds * 1000).toISOString().replace('Z', '123Z'),
    eventType: `EVENT_TYPE_${type}`,
    [`${name.charAt(0).toLowerCase()}${name.slice(1)}EventAttributes`]: attributes,
  }
}

const rpc = (message: object): string => JSON.stringify({ jsonrpc: '2.0', ...message })
const lookup = { method: 'tools/call', params: { name: 'lookup_order', arguments: { order_id: 'A-17' } } }

const gooseTalk = [
  { role: 'user', created: 1772600767, content: [{ type: 'text', text: 'Look up A-17.' }] },
  {
    role: 'assistant',
    created: 1772600768,
    content: [
      {
        type: 'toolRequest',
        id: 'c',
        toolCall: { status: 'success', value: { name: 'lookup_order', arguments: { order_id: 'A-17' } } },
      },
    ],
  },
  {
    role: 'user',
    created: 1772600768,
    content: [
      { type: 'toolResponse', id: 'c', toolResult: { status: 'success', value: [{ type: 'text', text: 'paid' }] } },
    ],
  },
]

function scenario(messages: readonly object[], message: object): object {
  return {
    input: { system: 'Help.', messages, tools: [] },
    output: { message, usage: { model: 'gpt-5', usage: { input_tokens: 9, output_tokens: 2, total_tokens: 11 } } },
  }
}

/** A node of ToolBench's tree. */
function node(type: string, description: string, children: readonly object[], more: object = {}): object {
  return { node_type: type, description, children, pruned: false, ...more }
}

/**
 * A ZIP archive of one file that is not compressed. Its text is padded so that no byte is over 127: it stays what it is
 * as text.
 */
export function zip(name: string, text: string): string {
  const content = text.padEnd(Math.ceil(text.length / 256) * 256)
  const local = Buffer.alloc(30)
  local.writeUInt32LE(0x04034b50, 0)
  const central = Buffer.alloc(46)
  central.writeUInt32LE(0x02014b50, 0)
  for (const [buffer, at] of [
    [local, 18],
    [central, 20],
  ] as const) {
    buffer.writeUInt32LE(content.length, at)
    buffer.writeUInt32LE(content.length, at + 4)
    buffer.writeUInt16LE(name.length, at + 8)
  }
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(1, 10)
  end.writeUInt32LE(central.length + name.length, 12)
  end.writeUInt32LE(local.length + name.length + content.length, 16)
  return `${local.toString('latin1')}${name}${content}${central.toString('latin1')}${name}${end.toString('latin1')}`
}

/** A small sample of each format that holds runs and no HTTP, all of the same call. */
export const runSamples = {
  'mcp-log': [
    `STDIN: ${rpc({ id: 0, method: 'initialize', params: {} })}`,
    'STDERR: orders server, ready',
    `STDOUT: ${rpc({ id: 0, result: { capabilities: {} } })}`,
    `STDIN: ${rpc({ method: 'notifications/initialized' })}`,
    `STDIN: ${rpc({ id: 1, ...lookup })}`,
    `STDOUT: ${rpc({ method: 'notifications/message', params: { level: 'info', data: 'looking' } })}`,
    `STDOUT: ${rpc({ id: 1, result: { content: [{ type: 'text', text: 'paid' }] } })}`,
    '',
  ].join('\n'),
  'mcp-jsonl': lines(
    { direction: 'out', timestamp: 1772600767, message: { jsonrpc: '2.0', id: 1, ...lookup } },
    { direction: 'in', timestamp: 1772600768, message: { jsonrpc: '2.0', id: 1, result: { content: [] } } },
  ),
  temporal: JSON.stringify({
    events: [
      happened(1, 0, 'WORKFLOW_EXECUTION_STARTED', {
        workflowType: { name: 'Desk' },
        input: { payloads: [payload('Look up A-17.')] },
      }),
      happened(5, 1, 'ACTIVITY_TASK_SCHEDULED', {
        activityType: { name: 'lookup_order' },
        input: { payloads: [payload({ order_id: 'A-17' })] },
        workflowTaskCompletedEventId: '4',
      }),
      happened(6, 1, 'ACTIVITY_TASK_STARTED', { scheduledEventId: '5', attempt: 1 }),
      happened(7, 3, 'ACTIVITY_TASK_COMPLETED', { scheduledEventId: '5', result: { payloads: [payload('paid')] } }),
      happened(9, 4, 'WORKFLOW_EXECUTION_COMPLETED', { result: { payloads: [payload({ status: 'paid' })] } }),
    ],
  }),
  'tau-bench': JSON.stringify([{ task_id: 3, trial: 0, reward: 1, info: {}, traj: talk }]),
  'tau2-bench': JSON.stringify({
    simulations: [
      {
        id: 'a',
        task_id: '3',
        trial: 1,
        start_time: '2026-03-04T05:06:07',
        termination_reason: 'user_stop',
        reward_info: { reward: 0 },
        messages: [
          { role: 'user', content: 'Look up A-17.', timestamp: '2026-03-04T05:06:08' },
          {
            role: 'assistant',
            content: null,
            tool_calls: [{ id: 'c', name: 'lookup_order', arguments: { order_id: 'A-17' }, requestor: 'assistant' }],
            timestamp: '2026-03-04T05:06:09',
            usage: { prompt_tokens: 9, completion_tokens: 2 },
          },
          {
            role: 'tool',
            id: 'c',
            content: 'paid',
            requestor: 'assistant',
            error: false,
            timestamp: '2026-03-04T05:06:11',
          },
        ],
      },
    ],
  }),
  agentdojo: JSON.stringify({
    suite_name: 'desk',
    pipeline_name: 'gpt-5',
    user_task_id: 'user_task_1',
    injection_task_id: 'injection_task_2',
    attack_type: 'important_instructions',
    injections: {},
    messages: [
      { role: 'user', content: 'Look up A-17.' },
      {
        role: 'assistant',
        content: '',
        tool_calls: [{ function: 'lookup_order', args: { order_id: 'A-17' }, id: 'c' }],
      },
      { role: 'tool', content: 'paid', tool_call_id: 'c', tool_call: { function: 'lookup_order' }, error: null },
    ],
    error: null,
    utility: true,
    security: false,
    duration: 2.5,
  }),
  'swe-agent': JSON.stringify({
    environment: 'swe_main',
    trajectory: [
      {
        action: 'lookup_order A-17\n',
        observation: 'paid',
        response: 'I look it up.\n```\nlookup_order A-17\n```',
        state: '{}',
        thought: 'I look it up.',
      },
    ],
    history: [
      { role: 'system', content: 'SETTING', agent: 'main' },
      { role: 'user', content: 'Look up A-17.', agent: 'main' },
      { role: 'assistant', content: 'I look it up.', agent: 'main', thought: 'Look.', action: 'lookup_order A-17' },
    ],
    info: { exit_status: 'submitted', submission: 'paid' },
  }),
  'mini-swe-agent': JSON.stringify({
    info: { exit_status: 'Submitted', mini_version: '1.9.0' },
    messages: [
      { role: 'user', content: 'Look up A-17.' },
      { role: 'assistant', content: 'I look.\n\n```bash\nlookup_order A-17\n```' },
      { role: 'user', content: '<returncode>0</returncode>\n<output>\npaid\n</output>' },
    ],
  }),
  'who-and-when': JSON.stringify({
    question_ID: 'q-1',
    question: 'Is A-17 paid?',
    is_correct: false,
    history: [
      { role: 'Orchestrator (thought)', content: 'Ask the clerk.' },
      { role: 'Orchestrator (-> Clerk)', content: 'Look up A-17.' },
      { name: 'Clerk', role: 'assistant', content: 'It is paid.' },
    ],
    mistake_agent: 'Clerk',
    mistake_step: '2',
    mistake_reason: 'It did not look.',
  }),
  tapeagents: JSON.stringify({
    metadata: { id: 'tape-1', parent_id: null, author: 'desk', result: { solved: true }, error: null },
    context: null,
    steps: [
      { metadata: { agent: '' }, kind: 'task', task: 'Look up A-17.' },
      { metadata: { agent: 'desk' }, kind: 'reasoning_thought', reasoning: 'Look first.' },
      { metadata: { agent: 'desk' }, kind: 'lookup_order_action', order_id: 'A-17' },
      { metadata: { agent: '' }, kind: 'lookup_order_observation', text: 'paid' },
    ],
  }),
  'inspect-ai': JSON.stringify({
    version: 2,
    status: 'success',
    eval: { task: 'desk', model: 'openai/gpt-5' },
    plan: {},
    samples: [{ id: 1, epoch: 1, messages: talk, scores: { match: { value: 'C' } } }],
  }),
  'inspect-eval': zip('samples/1_epoch_1.json', JSON.stringify({ id: 1, epoch: 1, messages: talk, scores: {} })),
  toolbench: JSON.stringify({
    win: true,
    tree: {
      tree: node('Action Input', '', [
        node('Action', 'lookup_order', [node('Action Input', '{"order_id": "A-17"}', [], { observation: 'paid' })]),
      ]),
    },
    answer_generation: { query: 'Look up A-17.', finish_type: 'give_answer', final_answer: 'paid', train_messages: [] },
  }),
  openhands: JSON.stringify([
    {
      id: 0,
      timestamp: '2026-03-04T05:06:07.100',
      source: 'user',
      message: 'Look up A-17.',
      action: 'message',
      args: { content: 'Look up A-17.' },
    },
    {
      id: 1,
      timestamp: '2026-03-04T05:06:08.100',
      source: 'agent',
      action: 'call_tool_mcp',
      args: { order_id: 'A-17', thought: '' },
      tool_call_metadata: { function_name: 'lookup_order' },
    },
    { id: 2, timestamp: '2026-03-04T05:06:09.600', source: 'agent', observation: 'mcp', cause: 1, content: 'paid' },
  ]),
  atif: JSON.stringify({
    schema_version: 'ATIF-v1.4',
    session_id: 's-1',
    agent: { name: 'desk', version: '1.0', model_name: 'gpt-5' },
    steps: [
      { step_id: 1, timestamp: '2026-03-04T05:06:07Z', source: 'user', message: 'Look up A-17.' },
      {
        step_id: 2,
        timestamp: '2026-03-04T05:06:08Z',
        source: 'agent',
        model_name: 'gpt-5-2026',
        message: 'I look.',
        reasoning_content: 'Look first.',
        tool_calls: [{ tool_call_id: 'c', function_name: 'lookup_order', arguments: { order_id: 'A-17' } }],
        observation: { results: [{ source_call_id: 'c', content: 'paid' }] },
        metrics: { prompt_tokens: 9, completion_tokens: 2, cached_tokens: 1 },
      },
    ],
  }),
  adk: JSON.stringify({
    eval_set_id: 'desk',
    eval_cases: [
      {
        eval_id: 'looks-up',
        conversation: [
          {
            invocation_id: 'i-1',
            user_content: { parts: [{ text: 'Look up A-17.', function_call: null }], role: 'user' },
            intermediate_data: {
              tool_uses: [{ id: null, name: 'lookup_order', args: { order_id: 'A-17' } }],
              tool_responses: [{ id: null, name: 'lookup_order', response: { status: 'paid' } }],
            },
            final_response: { parts: [{ text: 'A-17 is paid.', function_call: null }], role: 'model' },
          },
        ],
      },
    ],
  }),
  'gemini-cli': JSON.stringify({
    sessionId: 's-1',
    projectHash: 'abc',
    startTime: '2026-03-04T05:06:07.000Z',
    lastUpdated: '2026-03-04T05:06:10.000Z',
    messages: [
      { id: 'm-1', timestamp: '2026-03-04T05:06:07.100Z', type: 'user', content: [{ text: 'Look up A-17.' }] },
      {
        id: 'm-2',
        timestamp: '2026-03-04T05:06:08.100Z',
        type: 'gemini',
        content: '',
        thoughts: [{ subject: 'Order', description: 'Look first.' }],
        tokens: { input: 9, output: 2, cached: 1, thoughts: 0, tool: 0, total: 11 },
        model: 'gemini-3',
        toolCalls: [
          {
            id: 'c-1',
            name: 'lookup_order',
            args: { order_id: 'A-17' },
            result: [{ functionResponse: { id: 'c-1', name: 'lookup_order', response: { output: 'paid' } } }],
            status: 'success',
            timestamp: '2026-03-04T05:06:09.100Z',
          },
        ],
      },
      { id: 'm-3', timestamp: '2026-03-04T05:06:10.000Z', type: 'info', content: 'An update is there.' },
    ],
  }),
  codex: lines(
    { timestamp: '2026-03-04T05:06:07.000Z', type: 'session_meta', payload: { id: 's-1', cwd: '/desk' } },
    { timestamp: '2026-03-04T05:06:07.000Z', type: 'turn_context', payload: { model: 'gpt-5' } },
    { timestamp: '2026-03-04T05:06:07.100Z', type: 'event_msg', payload: { type: 'user_message', message: 'Look.' } },
    {
      timestamp: '2026-03-04T05:06:07.100Z',
      type: 'response_item',
      payload: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Look up A-17.' }] },
    },
    {
      timestamp: '2026-03-04T05:06:08.000Z',
      type: 'response_item',
      payload: { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Look first.' }] },
    },
    {
      timestamp: '2026-03-04T05:06:08.100Z',
      type: 'response_item',
      payload: { type: 'function_call', name: 'lookup_order', arguments: '{"order_id":"A-17"}', call_id: 'c' },
    },
    {
      timestamp: '2026-03-04T05:06:08.200Z',
      type: 'event_msg',
      payload: {
        type: 'token_count',
        info: { last_token_usage: { input_tokens: 9, cached_input_tokens: 1, output_tokens: 2 } },
      },
    },
    {
      timestamp: '2026-03-04T05:06:09.100Z',
      type: 'response_item',
      payload: { type: 'function_call_output', call_id: 'c', output: 'paid' },
    },
  ),
  'gemini-responses': lines({
    method: 'generateContentStream',
    response: [
      {
        candidates: [{ content: { parts: [{ text: 'I ' }, { thought: true, text: 'Hm.' }] } }],
        modelVersion: 'gemini-3',
      },
      {
        candidates: [
          {
            content: {
              parts: [{ text: 'look.' }, { functionCall: { name: 'lookup_order', args: { order_id: 'A-17' } } }],
              role: 'model',
            },
            finishReason: 'STOP',
          },
        ],
        usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 2 },
      },
    ],
  }),
  'copilot-snapshot': `models:
  - gpt-5
conversations:
  - messages:
      - role: user
        content: Look up A-17.
      - role: assistant
        tool_calls:
          - id: toolcall_0
            type: function
            function:
              name: lookup_order
              arguments: '{"order_id":"A-17"}'
      - role: tool
        tool_call_id: toolcall_0
        content: paid
`,
  'goose-scenario': JSON.stringify({
    bb: scenario(gooseTalk.slice(0, 3), {
      role: 'assistant',
      created: 1772600769,
      content: [{ type: 'text', text: 'A-17 is paid.' }],
    }),
    aa: scenario(gooseTalk.slice(0, 1), gooseTalk[1]!),
  }),
  'pi-session': lines(
    { type: 'session', id: 's-1', timestamp: '2026-03-04T05:06:07.000Z', cwd: '/desk' },
    {
      type: 'message',
      timestamp: '2026-03-04T05:06:08.000Z',
      message: { role: 'user', content: [{ type: 'text', text: 'Look up A-17.' }] },
    },
    {
      type: 'message',
      timestamp: '2026-03-04T05:06:09.000Z',
      message: {
        role: 'assistant',
        content: [{ type: 'toolCall', id: 'c', name: 'lookup_order', arguments: { order_id: 'A-17' } }],
        provider: 'openai',
        model: 'gpt-5',
        usage: { input: 9, output: 2, cacheRead: 1 },
        stopReason: 'toolUse',
      },
    },
    {
      type: 'message',
      timestamp: '2026-03-04T05:06:11.000Z',
      message: {
        role: 'toolResult',
        toolCallId: 'c',
        toolName: 'lookup_order',
        content: [{ type: 'text', text: 'paid' }],
        isError: false,
      },
    },
  ),
  'claude-code': lines(
    { type: 'summary', summary: 'An order', leafUuid: 'u-3' },
    {
      type: 'user',
      uuid: 'u-1',
      sessionId: 's-1',
      timestamp: '2026-03-04T05:06:07.000Z',
      message: { role: 'user', content: 'Look up A-17.' },
    },
    {
      type: 'assistant',
      uuid: 'u-2',
      sessionId: 's-1',
      timestamp: '2026-03-04T05:06:08.000Z',
      message: {
        role: 'assistant',
        model: 'claude-x',
        content: [{ type: 'tool_use', id: 'toolu_1', name: 'lookup_order', input: { order_id: 'A-17' } }],
        usage: { input_tokens: 9, output_tokens: 2 },
      },
    },
    {
      type: 'user',
      uuid: 'u-3',
      sessionId: 's-1',
      timestamp: '2026-03-04T05:06:09.500Z',
      message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'paid' }] },
    },
  ),
  'agent-log': lines(
    { source: 'user', content: 'Is A-17 paid?', type: 'TextMessage' },
    { source: 'Orchestrator (-> Clerk)', content: 'Look up A-17.' },
    { type: 'LLMCallEvent', prompt_tokens: 9 },
    { source: 'Clerk', content: 'It is paid.' },
  ),
  chat: JSON.stringify({ messages: talk }),
} as const satisfies Partial<Record<ImportFormat, string>>
