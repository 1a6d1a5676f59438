import { type Edit, harmless, meaning, question } from '../../edits.ts'
import type { Text } from '../../operators.ts'

export const of = 'the AI SDK with its loop; tools of it, wrapped; a service with a workspace'

export const texts: readonly Text[] = [
  {
    of: 'prompt',
    text: 'You book trains for the staff of Nordlicht GmbH. Always prefer the train to the plane. First class only above four hours. Never book before the traveller has said yes.',
    swaps: [
      ['the train to the plane', 'the plane to the train'],
      ['four', 'two'],
      ['First', 'Second'],
      ['yes', 'no'],
      ['Nordlicht', 'Nordwind'],
      ['trains', 'flights'],
    ],
    translated:
      'Você reserva trens para os funcionários da Nordlicht GmbH. Prefira sempre o trem ao avião. Primeira classe apenas acima de quatro horas. Nunca reserve antes de o viajante dizer sim.',
    reworded: [
      'You book trains for the employees of Nordlicht GmbH. Always prefer the train to the plane. First class only above four hours. Never book before the traveller has said yes.',
      'You book trains for the staff of Nordlicht GmbH. The train is always preferred to the plane. First class only above four hours. Do not book before the traveller has said yes.',
    ],
  },
  {
    of: 'description',
    text: 'Finds trains between two stations on a day.',
    swaps: [
      ['trains', 'flights'],
      ['on a day', 'in a week'],
    ],
    reworded: ['Finds the trains of a day between two stations.'],
  },
  {
    of: 'description',
    text: 'Books a seat. It costs money and cannot be cancelled.',
    swaps: [
      ['cannot', 'can'],
      ['costs money', 'is free'],
    ],
    reworded: ['Books a seat, which costs money and cannot be cancelled.'],
  },
]

const line = '    maxRetries: 0,\n'
const more = (name: string, setting: string) => meaning('params', name, [line, `${line}    ${setting},\n`])

export const edits: readonly Edit[] = [
  meaning('model', 'a small model', ["chat('gpt-4.1')", "chat('gpt-4.1-mini')"]),
  meaning('model', 'another interface of the provider', ["provider.chat('gpt-4.1')", "provider.responses('gpt-4.1')"]),
  meaning('params', 'hot', ['temperature: 0.1', 'temperature: 1.5']),
  meaning('params', 'no temperature', ['    temperature: 0.1,\n', '']),
  meaning('params', 'cut off', ['maxOutputTokens: 500', 'maxOutputTokens: 5']),
  meaning('params', 'no limit', ['    maxOutputTokens: 500,\n', '']),
  more('top_p', 'topP: 0.2'),
  more('penalties', 'presencePenalty: 1.5'),
  more('a word ends it', "stopSequences: ['ICE']"),
  more('no tool', "toolChoice: 'none'"),
  more('a tool in any case', "toolChoice: 'required'"),
  more('one tool', "toolChoice: { type: 'tool', toolName: 'book' }"),
  more('it may only search', "activeTools: ['find_trains']"),
  more('no tools in parallel', 'providerOptions: { openai: { parallelToolCalls: false } }'),
  more('nothing is kept by the provider', 'providerOptions: { openai: { store: true } }'),
  meaning('loop', 'one step', ['stepCountIs(6)', 'stepCountIs(1)']),
  meaning('loop', 'two steps', ['stepCountIs(6)', 'stepCountIs(2)']),
  meaning('prompt', 'no instructions', ['    system,\n', '']),
  meaning(
    'prompt',
    'the instructions are said by the traveller',
    ['    system,\n', ''],
    ['`${wish.traveller}: ', '`${system} ${wish.traveller}: '],
  ),
  meaning('tools', 'no tools', ['    tools: desk,\n', '']),
  meaning('tools', 'booking is not offered', ['tools: desk,', 'tools: { find_trains: desk.find_trains },']),
  meaning('tools', 'seats are whole', ['seats: z.number()', 'seats: z.number().int()']),
  meaning('tools', 'at most nine seats', ['seats: z.number()', 'seats: z.number().max(9)']),
  meaning('tools', 'the day is described with a form', ['day: z.string()', "day: z.string().describe('MM/DD/YYYY')"]),
  meaning('tools', 'first class is optional', ['firstClass: z.boolean()', 'firstClass: z.boolean().optional()']),
  meaning('tools', 'an argument more', ['day: z.string() })', 'day: z.string(), class: z.string().optional() })']),
  meaning('history', 'no history', ['...wish.turns, ', '']),
  meaning('history', 'the question is not kept', ['...wish.turns, ', '...wish.turns.slice(1), ']),
  meaning('history', 'the answer is not kept', ['...wish.turns, ', '...wish.turns.slice(0, 1), ']),
  meaning('history', 'the traveller said everything', [
    '...wish.turns, ',
    "...wish.turns.map(({ content }) => ({ role: 'user', content: String(content) }) as const), ",
  ]),
  meaning('history', 'another train was offered', [
    '...wish.turns, ',
    "...(JSON.parse(JSON.stringify(wish.turns).replace('702', '704')) as typeof wish.turns), ",
  ]),
  meaning('user data', 'no name', ['`${wish.traveller}: ${wish.text}`', 'wish.text']),
  meaning('user data', 'no instead of yes', ['${wish.text}`', "${wish.text.replace('Yes', 'No')}`"]),
  meaning('user data', 'late instead of early', ['${wish.text}`', "${wish.text.replace('early', 'late')}`"]),
  meaning('user data', 'without its first word', ['${wish.text}`', "${wish.text.replace('Yes, ', '')}`"]),
  meaning('user data', 'somebody else travels', [
    '`${wish.traveller}: ',
    "`${wish.traveller.replace('Koch', 'Kock')}: ",
  ]),
  meaning('tenant', 'another workspace', ["'x-workspace': 'nordlicht'", "'x-workspace': 'nordwind'"]),
  meaning('tenant', 'no workspace', ["'x-workspace': 'nordlicht', ", '']),
  meaning('headers', 'another preference', ['return=minimal', 'return=representation']),
  meaning('headers', 'no preference', [", prefer: 'return=minimal'", '']),
  meaning('headers', 'another form', [
    "'content-type': 'application/json', 'x-w",
    "'content-type': 'text/plain', 'x-w",
  ]),
  meaning('host', 'notes go elsewhere', ['https://journeys.nordlicht', 'https://journeys-old.nordlicht']),
  meaning('host', 'another version of the notes', ['/v1/notes', '/v2/notes']),
  meaning('arguments', 'another traveller', ['{ traveller: wish.traveller, note', "{ traveller: 'M. Koch', note"]),
  meaning('arguments', 'the note is cut', ['note: text })', 'note: text.slice(0, 20) })']),
  meaning('arguments', 'the note is public', ['note: text })', 'note: text, public: true })']),
  meaning('arguments', 'notes are set', ["method: 'POST'", "method: 'PUT'"]),
  meaning('host', 'the model is asked elsewhere', [
    "?? 'sk-not-a-key' })",
    "?? 'sk-not-a-key', baseURL: 'https://api.eu.openai.example/v1' })",
  ]),
  meaning('headers', 'for another organisation', [
    "?? 'sk-not-a-key' })",
    "?? 'sk-not-a-key', organization: 'org-nordwind' })",
  ]),
  meaning('headers', 'for a project', ["?? 'sk-not-a-key' })", "?? 'sk-not-a-key', project: 'proj-1' })"]),

  harmless(
    'streaming',
    'streamed',
    ['const { text } = await generateText({', 'const streamed = streamText({'],
    [`${line}  })\n`, `${line}  })\n  const text = await streamed.text\n`],
    ['import { generateText,', 'import { streamText,'],
  ),
  harmless('spelling', 'the wish is one part', [
    'content: `${wish.traveller}: ${wish.text}` }',
    "content: [{ type: 'text', text: `${wish.traveller}: ${wish.text}` }] }",
  ]),
  harmless('refactoring', 'messages are put together before', [
    '    messages: [...wish.turns, {',
    '    messages: [...[...wish.turns], {',
  ]),
  harmless('SDK', 'steps are heard of', [line, `${line}    onStepFinish: () => undefined,\n`]),
  harmless('SDK', 'it can be aborted', [line, `${line}    abortSignal: new AbortController().signal,\n`]),
  harmless('SDK', 'retries', ['maxRetries: 0', 'maxRetries: 3']),
  harmless('SDK', 'the model is an object of its own', [
    "model: provider.chat('gpt-4.1')",
    "model: provider.chat(['gpt', '4.1'].join('-'))",
  ]),
  harmless('SDK', 'with telemetry', [line, `${line}    experimental_telemetry: { isEnabled: false },\n`]),
  harmless('bookkeeping', 'the user is named', [line, `${line}    providerOptions: { openai: { user: 'mira' } },\n`]),
  harmless('headers', 'requests have an id', [line, `${line}    headers: { 'x-request-id': 'journey-1' },\n`]),
  question('params', 'a little warmer', ['temperature: 0.1', 'temperature: 0.2']),
  question('params', 'a seed', [line, `${line}    seed: 3,\n`]),
  question('tools', 'an argument is described', ['from: z.string()', "from: z.string().describe('Station')"]),
  question('messages', 'a dash', ['`${wish.traveller}: ', '`${wish.traveller} - ']),
]
