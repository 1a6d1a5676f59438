import { type Edit, harmless, meaning, question } from '../../edits.ts'
import type { Text } from '../../operators.ts'

export const of = 'the SDK of OpenAI, chat; three agents with messages and marks; wrapped tools'

export const texts: readonly Text[] = [
  {
    of: 'prompt',
    text: 'You are a reporter. State only what two sources confirm. Never name a minor.',
    swaps: [
      ['two sources', 'one source'],
      ['reporter', 'columnist'],
      ['Never name', 'Name'],
    ],
    translated: 'Du är reporter. Skriv bara det som två källor bekräftar. Nämn aldrig en minderårig vid namn.',
    reworded: ['You are a reporter. Only state what two sources confirm. Never name a minor.'],
  },
  {
    of: 'prompt',
    text: 'You check facts. List every claim that is not supported, one per line. Say NONE if all are.',
    swaps: [
      ['NONE', 'OK'],
      ['every claim', 'one claim'],
      ['one per line', 'in one line'],
    ],
    reworded: ['You check facts. List each claim that is not supported, one per line. Say NONE if all are.'],
  },
  {
    of: 'prompt',
    text: 'You are the editor. Cut what the checker doubts. Keep the headline under 60 characters.',
    swaps: [
      ['Cut', 'Keep'],
      ['under', 'over'],
      ['checker', 'reporter'],
    ],
    reworded: ['You are the editor. Cut what the checker doubts. The headline stays under 60 characters.'],
  },
]

export const edits: readonly Edit[] = [
  meaning('message', 'another receiver', ["message('reporter', 'checker',", "message('reporter', 'editor',"]),
  meaning('message', 'another sender', ["message('checker', 'editor',", "message('reporter', 'editor',"]),
  meaning('message', 'sender and receiver change places', [
    "message('desk', 'reporter',",
    "message('reporter', 'desk',",
  ]),
  meaning('message', 'it says less', ["{ doubts, severity: 'high' }", '{ doubts }']),
  meaning('message', 'it says something else', ["severity: 'high'", "severity: 'low'"]),
  meaning('message', 'it says more', ["{ url, status: 'published' }", "{ url, status: 'published', retracted: true }"]),
  meaning('message', 'a number in it', [
    'topic: assignment.topic, words: assignment.words }',
    'topic: assignment.topic, words: assignment.words * 2 }',
  ]),
  meaning('message', 'a number in it is a text', [
    'topic: assignment.topic, words: assignment.words }',
    'topic: assignment.topic, words: String(assignment.words) }',
  ]),
  meaning('message', 'it is not sent', ["  message('checker', 'editor', { doubts, severity: 'high' })\n", '']),
  meaning('message', 'the last one is not sent', ["  message('editor', 'desk', { url, status: 'published' })\n", '']),
  meaning('message', 'the first one is not sent', [
    "  message('desk', 'reporter', { topic: assignment.topic, words: assignment.words })\n",
    '',
  ]),
  meaning('message', 'it is sent twice', [
    "  message('checker', 'editor', { doubts, severity: 'high' })\n",
    "  message('checker', 'editor', { doubts, severity: 'high' })\n  message('checker', 'editor', { doubts, severity: 'high' })\n",
  ]),
  meaning('message', 'one more is sent', [
    "  mark('approved')\n",
    "  mark('approved')\n  message('editor', 'reporter', 'Well done')\n",
  ]),
  meaning('message', 'the person is asked to reject', [
    '`Please approve: ${headline}`',
    '`Please reject: ${headline}`',
  ]),
  meaning('message', 'another person is asked', [
    "message('editor', assignment.editor,",
    "message('editor', 'sigrid',",
  ]),
  meaning('message', 'the person is asked without a headline', ['`Please approve: ${headline}`', "'Please approve'"]),
  meaning('message', 'a letter of another alphabet', ['Please approve', 'Ple\u0430se approve']),
  meaning('message', 'the draft is kept back', ['{ draft, sources: found.length }', '{ sources: found.length }']),
  meaning('message', 'sources are not counted right', ['sources: found.length', 'sources: found.length + 1']),
  meaning('message', 'before the mark, not after', [
    "  message('reporter', 'checker', { draft, sources: found.length })\n  mark('drafted', { words: assignment.words })\n",
    "  mark('drafted', { words: assignment.words })\n  message('reporter', 'checker', { draft, sources: found.length })\n",
  ]),
  meaning('mark', 'another name', ["mark('checked'", "mark('verified'"]),
  meaning('mark', 'other data', ["by: 'checker'", "by: 'editor'"]),
  meaning('mark', 'less data', ["{ by: 'checker', doubts: doubts.split('\\n').length }", "{ by: 'checker' }"]),
  meaning('mark', 'a number', ["doubts.split('\\n').length", "doubts.split('\\n').length - 1"]),
  meaning('mark', 'no data', ["mark('drafted', { words: assignment.words })", "mark('drafted')"]),
  meaning('mark', 'data where there was none', ["mark('approved')", "mark('approved', { by: assignment.editor })"]),
  meaning('mark', 'left out', ["  mark('approved')\n", '']),
  meaning('mark', 'once more', ["  mark('approved')\n", "  mark('approved')\n  mark('approved')\n"]),
  meaning(
    'mark',
    'earlier',
    ["  mark('approved')\n", ''],
    ["  message('editor', assignment.editor,", "  mark('approved')\n  message('editor', assignment.editor,"],
  ),
  meaning('arguments', 'searched from another day', ["from: '2020-01-01'", "from: '2010-01-01'"]),
  meaning('arguments', 'another topic', [
    '{ text: assignment.topic, from',
    '{ text: `${assignment.topic} scandal`, from',
  ]),
  meaning('arguments', 'no embargo', [", embargo: '2026-04-01T06:00:00Z'", ", embargo: ''"]),
  meaning('arguments', 'an earlier embargo', ['2026-04-01T06:00:00Z', '2026-04-01T05:00:00Z']),
  meaning('arguments', 'another zone', ['T06:00:00Z', 'T06:00:00+02:00']),
  meaning('arguments', 'the doubts are published', [
    'publish({ headline, text: draft,',
    'publish({ headline, text: doubts,',
  ]),
  meaning('arguments', 'headline and text change places', [
    'publish({ headline, text: draft,',
    'publish({ headline: draft, text: headline,',
  ]),
  meaning('model', 'the checker has a large model', ["'gpt-5-mini'", "'gpt-5'"]),
  meaning('model', 'the editor has a small model', ["ask('editor', 'gpt-5'", "ask('editor', 'gpt-5-nano'"]),
  meaning('params', 'the editor is cold', ["role === 'editor' ? 0.7 : 0", '0']),
  meaning('params', 'all are hot', ["role === 'editor' ? 0.7 : 0", '0.7']),
  meaning('prompt', 'all have one role', ['content: roles[role]', 'content: roles.reporter']),
  meaning('prompt', 'the reporter checks', ["ask('checker', 'gpt-5-mini'", "ask('reporter', 'gpt-5-mini'"]),
  meaning('user data', 'no sources', ["\\nSources:\\n${found.join('\\n')}`", '`']),
  meaning('user data', 'one source', ["found.join('\\n')", 'found[0]']),
  meaning('user data', 'no limit', [' At most ${assignment.words} words.', '']),
  meaning('user data', 'the topic is not said', ['Topic: ${assignment.topic}. ', '']),
  meaning('user data', 'the editor does not hear of doubts', ['\\n\\nDoubts:\\n${doubts}`', '`']),
  meaning('user data', 'the editor does not see the draft', ['`Draft:\\n${draft}\\n\\nDoubts', '`Doubts']),
  meaning('user data', 'draft and doubts change places', [
    '`Draft:\\n${draft}\\n\\nDoubts:\\n${doubts}`',
    '`Draft:\\n${doubts}\\n\\nDoubts:\\n${draft}`',
  ]),

  harmless(
    'streaming',
    'streamed',
    [
      'const completion = await client.chat.completions.create({',
      'const completion = await client.chat.completions.stream({',
    ],
    ['    ],\n  })\n', '    ],\n  }).finalChatCompletion()\n'],
  ),
  harmless('spelling', 'the system speaks as developer', ["role: 'system', content", "role: 'developer', content"]),
  harmless('spelling', 'the role is one part', [
    'content: roles[role] }',
    "content: [{ type: 'text', text: roles[role] }] }",
  ]),
  harmless('spelling', 'the question is one part', [
    "role: 'user', content: text }",
    "role: 'user', content: [{ type: 'text', text }] }",
  ]),
  harmless('spelling', 'defaults are said', [
    '    model,\n',
    '    model,\n    n: 1,\n    top_p: 1,\n    frequency_penalty: 0,\n    logprobs: false,\n',
  ]),
  harmless('bookkeeping', 'the role is told as metadata', ['    model,\n', '    model,\n    metadata: { role },\n']),
  harmless('refactoring', 'the message is made before', [
    "  message('editor', 'desk', { url, status: 'published' })\n",
    "  const done = { status: 'published', url }\n  message('editor', 'desk', done)\n",
  ]),
  harmless('refactoring', 'marks have constants', ["mark('approved')", "mark(['app', 'roved'].join(''))"]),
  harmless(
    'SDK',
    'with the raw response',
    [
      'const completion = await client.chat.completions.create({',
      'const { data: completion } = await client.chat.completions.create({',
    ],
    ['    ],\n  })\n', '    ],\n  }).withResponse()\n'],
  ),
  harmless('SDK', 'a time limit', ['maxRetries: 0', 'maxRetries: 1, timeout: 30_000']),
  question('params', 'a little warmer', ["'editor' ? 0.7", "'editor' ? 0.8"]),
  question('params', 'a seed', ['    model,\n', '    model,\n    seed: 1,\n']),
  question('messages', 'the checker is asked otherwise', [
    '`Check this:\\n${draft}`',
    '`Please check this:\\n${draft}`',
  ]),
  question('messages', 'a line more', ['`Check this:\\n${draft}`', '`Check this:\\n\\n${draft}`']),
]
