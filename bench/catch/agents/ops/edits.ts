import { benign, type Edit, regression } from '../../edits.ts'

export const edits: readonly Edit[] = [
  regression('protected services are not protected', ["['payments', 'ledger']", "['payment', 'ledger']"]),
  regression('the guard is lost for rollbacks', [
    'if (protectedServices.includes(service))',
    "if (name === 'restart' && protectedServices.includes(service))",
  ]),
  regression('the window is shorter', ['const windowMinutes = 30', 'const windowMinutes = 10']),
  regression('deploys are counted from now', ['Date.parse(alert.at) - windowMinutes', 'Date.now() - windowMinutes']),
  regression('an overloaded model ends the run', ['attempt === 3 ||', 'attempt === 1 ||']),
  regression('metrics of the wrong service', [
    "get_metrics({ service: args['service']!,",
    "get_metrics({ service: 'gateway',",
  ]),
  regression('the page goes to everyone', ["page({ team: args['team']!,", "page({ team: 'everyone',"]),
  regression('the page is sent twice', [
    "        actions.push(`page ${args['team']}`)\n",
    "        actions.push(`page ${args['team']}`)\n        await platform.page({ team: args['team']!, text: args['text']! })\n",
  ]),
  regression('a refusal is told as done', [
    'return { refused: `${service} is protected, page its team` }',
    'return { done: true }',
  ]),
  regression('the tool that pages cuts the text', [
    "ask('POST', '/pages', { team, text })",
    "ask('POST', '/pages', { team, text: String(text).slice(0, 8) })",
  ]),
  regression('metrics are asked for three times', [
    "return platform.get_metrics({ service: args['service']!, minutes: windowMinutes })",
    "for (let i = 0; i < 2; i++) await platform.get_metrics({ service: args['service']!, minutes: windowMinutes })\n        return platform.get_metrics({ service: args['service']!, minutes: windowMinutes })",
  ]),
  regression('a smaller model', ["'gemini-3-pro'", "'gemini-3-flash'"]),
  regression('the new instructions make the model restart first', [
    "'You are on call. Prefer a rollback to a restart.'",
    "'You are on call. Always restart first.'",
  ]),
  regression('the results of a turn are lost but the last', [
    'parts: results.map(({ name, output })',
    'parts: results.slice(-1).map(({ name, output })',
  ]),
  regression('the timeline is not written', [
    "      await ask('POST', '/timeline', { service: alert.service, actions })\n",
    '',
  ]),
  benign('the instructions are worded anew', [
    "'You are on call. Prefer a rollback to a restart.'",
    "'You are the engineer on call. A rollback is better than a restart.'",
  ]),
  benign('the alert is worded anew', [
    '`Alert at ${alert.at} for ${alert.service}: ${alert.text}. Deploys since ${since} count.`',
    '`At ${alert.at} there was an alert for ${alert.service}: ${alert.text}. Only deploys since ${since} count.`',
  ]),
  benign('the wait is longer', ['sleep(5 * 2 ** attempt)', 'sleep(8 * 2 ** attempt)']),
  benign('the tools of a turn run one after the other', [
    "const results = await Promise.all(\n      calls.map(async ({ name = '', args = {} }) => ({ name, output: await act(name, args as Args) })),\n    )",
    "const results: { name: string; output: unknown }[] = []\n    for (const { name = '', args = {} } of calls) results.push({ name, output: await act(name, args as Args) })",
  ]),
  benign('names of tools are made in a loop', [
    'description: `Platform: ${name}`',
    "description: ['Platform', name].join(' / ')",
  ]),
  benign(
    'protected services are a set',
    ["const protectedServices = ['payments', 'ledger']", "const protectedServices = new Set(['payments', 'ledger'])"],
    ['protectedServices.includes(service)', 'protectedServices.has(service)'],
  ),
  benign('each answer of the model is logged', [
    '    const calls = response.functionCalls ?? []\n',
    '    const calls = response.functionCalls ?? []\n    console.debug(turn, response.responseId, calls.length)\n',
  ]),
  benign('the temperature is set', [
    '          tools: [{ functionDeclarations: declared }],\n',
    '          tools: [{ functionDeclarations: declared }],\n          temperature: 0,\n',
  ]),
  benign(
    'one client for all runs',
    [
      "  const client = new GoogleGenAI({\n    apiKey: process.env['GEMINI_API_KEY'] ?? 'not-a-key',\n    httpOptions: { baseUrl: gateway },\n  })\n",
      '',
    ],
    [
      'const windowMinutes = 30\n',
      "const windowMinutes = 30\nconst client = new GoogleGenAI({\n  apiKey: process.env['GEMINI_API_KEY'] ?? 'not-a-key',\n  httpOptions: { baseUrl: gateway },\n})\n",
    ],
  ),
]
