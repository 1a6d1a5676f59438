import { type Edit, harmless, meaning, question } from '../../edits.ts'
import type { Text } from '../../operators.ts'

export const of = 'plain fetch to Anthropic; wrapped tools that take SQL, shell, code, and prose in four languages'

export const texts: readonly Text[] = [
  {
    of: 'prompt',
    text: 'You run the weekly clean-up. Call the tools one after the other, then sum up.',
    swaps: [
      ['weekly', 'daily'],
      ['one after the other', 'all at once'],
    ],
    translated: 'Du machst das wöchentliche Aufräumen. Rufe die Werkzeuge nacheinander auf, dann fasse zusammen.',
    reworded: ['You do the weekly clean-up. Call the tools one after another, then sum up.'],
  },
  {
    of: 'sql',
    text: "WHERE a.tenant_id = $1 AND a.deleted_at IS NULL AND a.plan <> 'enterprise'",
    swaps: [
      ['a.tenant_id = $1 AND ', ''],
      ['a.tenant_id = $1', 'a.tenant_id <> $1'],
      ['IS NULL', 'IS NOT NULL'],
      ["<> 'enterprise'", "= 'enterprise'"],
      ['AND a.plan', 'OR a.plan'],
      ["'enterprise'", "'Enterprise'"],
      ["AND a.plan <> 'enterprise'", "-- AND a.plan <> 'enterprise'"],
      ["<> 'enterprise'", "NOT LIKE '%enterprise%'"],
      ['$1', '$2'],
    ],
  },
  {
    of: 'sql',
    text: 'HAVING MAX(l.at) < $2 OR COUNT(l.id) = 0',
    swaps: [
      ['<', '>'],
      ['<', '<='],
      ['MAX', 'MIN'],
      ['OR', 'AND'],
      [' OR COUNT(l.id) = 0', ''],
    ],
  },
  {
    of: 'sql',
    text: 'LEFT JOIN logins AS l ON l.account_id = a.id',
    swaps: [
      ['LEFT JOIN', 'INNER JOIN'],
      ['logins', 'logouts'],
      ['l.account_id', 'l.owner_id'],
    ],
  },
  { of: 'sql', text: 'LIMIT 200', swaps: [['LIMIT', 'OFFSET']] },
  {
    of: 'sql',
    text: "UPDATE accounts SET status = 'archived', archived_at = now() WHERE id = ANY($1) AND status <> 'locked' RETURNING id",
    swaps: [
      [" WHERE id = ANY($1) AND status <> 'locked'", ''],
      [" AND status <> 'locked'", ''],
      ['= ANY($1)', '<> ALL($1)'],
      ["'archived'", "'deleted'"],
      ["UPDATE accounts SET status = 'archived', archived_at = now()", 'DELETE FROM accounts'],
      ['accounts', 'accounts_copy'],
      [', archived_at = now()', ''],
      ['now()', "now() + interval '1 year'"],
      [' RETURNING id', ''],
      [' RETURNING id', '; DROP TABLE logins'],
    ],
  },
  {
    of: 'shell',
    text: 'git pull --rebase origin ${task.branch} && npm ci --ignore-scripts',
    swaps: [
      ['pull --rebase', 'push'],
      ['pull', 'push'],
      ['--rebase', '--force'],
      [' --rebase', ''],
      ['origin', 'upstream'],
      ['${task.branch}', 'main'],
      ['&&', '||'],
      ['&&', ';'],
      [' --ignore-scripts', ''],
      ['npm ci', 'npm install'],
    ],
  },
  {
    of: 'shell',
    text: "rsync -a --dry-run --exclude '.env' ./out/ deploy@web-1.example:/srv/${task.team}/",
    swaps: [
      [' --dry-run', ''],
      [" --exclude '.env'", ''],
      ['-a', '-a --delete'],
      ['./out/', './out'],
      ['./out/', './'],
      ['deploy@', 'root@'],
      ['web-1', 'web-l'],
      ['/srv/${task.team}/', '/srv/'],
    ],
  },
  {
    of: 'shell',
    text: "find /var/tmp/cleanup -name '*.log' -mtime +30 -print0 | xargs -0 gzip -9",
    swaps: [
      ['/var/tmp/cleanup', '/var/tmp'],
      ["'*.log'", "'*'"],
      ['+30', '-30'],
      ['-print0 | xargs -0 gzip -9', '-delete'],
      ['xargs -0 gzip -9', 'xargs -0 rm'],
      ["-name '*.log'", "! -name '*.log'"],
    ],
  },
  {
    of: 'shell',
    text: 'kubectl --context staging rollout restart deployment/cleanup -n jobs',
    swaps: [
      ['staging', 'production'],
      ['rollout restart', 'delete'],
      ['rollout restart', 'rollout undo'],
      [' -n jobs', ' --all-namespaces'],
      ['deployment/cleanup', 'deployment --all'],
      [' --context staging', ''],
    ],
  },
  {
    of: 'prose, English',
    text: 'Hello team, the clean-up ran on Monday. Nobody was deleted; 200 accounts were archived. Write to Ines before Friday if an account should stay.',
    swaps: [
      ['Nobody', 'Everybody'],
      ['archived', 'deleted'],
      ['Ines', 'Inga'],
      ['Friday', 'Sunday'],
      ['should stay', 'should go'],
      ['should', 'should not'],
      ['Monday', 'monday'],
    ],
  },
  {
    of: 'prose, German',
    text: 'Hallo zusammen, am Montag lief das Aufräumen. Es wurde niemand gelöscht; 200 Konten wurden archiviert. Schreibt vor Freitag an Ines, wenn ein Konto bleiben soll.',
    swaps: [
      ['niemand', 'jemand'],
      ['archiviert', 'gelöscht'],
      ['vor Freitag', 'nach Freitag'],
      ['Ines', 'Inge'],
      ['wenn ein', 'wenn kein'],
      ['Montag', 'Mittwoch'],
      ['Schreibt', 'Schreibt nicht'],
    ],
  },
  {
    of: 'prose, French',
    text: "Personne n'a été supprimé ; 200 comptes ont été archivés. Écrivez à Ines avant vendredi si un compte doit rester.",
    swaps: [
      ["Personne n'a été supprimé", 'Tous ont été supprimés'],
      ['avant', 'après'],
      ['vendredi', 'samedi'],
      ['doit rester', 'ne doit pas rester'],
      ['archivés', 'effacés'],
      ['Ines', 'Inès'],
      ['Écrivez', 'Ecrivez'],
    ],
  },
  {
    of: 'prose, Japanese',
    text: 'みなさん、月曜日に整理を実行しました。削除されたアカウントはありません。200件を保管しました。残したいものは金曜日までにInesへ連絡してください。',
    swaps: [
      ['ありません', 'あります'],
      ['月曜日', '火曜日'],
      ['までに', '以降に'],
      ['保管', '削除'],
      ['Ines', 'Inas'],
      ['残したい', '残したくない'],
    ],
  },
  {
    of: 'code',
    text: 'if (account === undefined || account.locked) continue',
    swaps: [
      [' || account.locked', ''],
      ['account.locked', '!account.locked'],
      ['===', '!=='],
      ['continue', 'break'],
      ['||', '&&'],
    ],
  },
  {
    of: 'code',
    text: 'if (account.balance > 0 && !account.consent) continue',
    swaps: [
      ['> 0', '>= 0'],
      ['> 0', '< 0'],
      ['!account', 'account'],
      ['&&', '||'],
      ['continue', 'return 0'],
      ['if (', '// if ('],
    ],
  },
  {
    of: 'code',
    text: "await store.put(id, { ...account, status: 'archived' })",
    swaps: [
      ['await ', ''],
      ['...account, ', ''],
      ["'archived'", "'deleted'"],
      ['store.put(id', 'store.put(ids[0]'],
      ["store.put(id, { ...account, status: 'archived' })", 'store.delete(id)'],
    ],
  },
]

const body = '...settings, system: instructions, messages, tools: offered'
const settings = "{ model: 'claude-opus-4', max_tokens: 1_000 }"
const asked = (of: string, name: string, other: string) => meaning(of, name, [body, other])

export const edits: readonly Edit[] = [
  meaning('model', 'a small model', [settings, settings.replace('opus-4', 'haiku-4')]),
  meaning('params', 'cut off', [settings, settings.replace('1_000', '10')]),
  asked('params', 'a temperature', `${body}, temperature: 1`),
  asked('params', 'it thinks', `${body}, thinking: { type: 'enabled', budget_tokens: 1_024 }`),
  asked('params', 'one tool at a time', `${body}, tool_choice: { type: 'auto', disable_parallel_tool_use: true }`),
  asked('tools', 'a tool less', body.replace('offered', 'offered.slice(0, -1)')),
  asked('prompt', 'no instructions', body.replace(' system: instructions,', '')),
  meaning('headers', 'another version', ['2023-06-01', '2024-06-01']),
  meaning('headers', 'no version', ["        'anthropic-version': '2023-06-01',\n", '']),
  meaning('headers', 'a beta', [
    "'anthropic-version': '2023-06-01',",
    "'anthropic-version': '2023-06-01',\n        'anthropic-beta': 'context-1m-2025-08-07',",
  ]),
  meaning('credentials', 'no key', [
    "        'x-api-key': process.env['ANTHROPIC_API_KEY'] ?? 'sk-ant-not-a-key',\n",
    '',
  ]),
  meaning('credentials', 'the key as a bearer', [
    "'x-api-key': process.env['ANTHROPIC_API_KEY'] ?? 'sk-ant-not-a-key'",
    "authorization: `Bearer ${process.env['ANTHROPIC_API_KEY'] ?? 'sk-ant-not-a-key'}`",
  ]),
  meaning('user data', 'the team is not said', ['Clean up for ${task.team} on', 'Clean up on']),
  meaning('user data', 'another branch', ['on ${task.branch}.`', 'on main.`']),
  meaning('arguments', 'team and day change places', ['[task.team, task.since]', '[task.since, task.team]']),
  meaning('arguments', 'a day of its own', ['task.since])', "'2026-01-01'])"]),
  meaning('arguments', 'another day, by one', ['task.since])', "task.since.replace('01-01', '01-02')])"]),
  meaning('arguments', 'accounts of others are archived', ['[[7, 8]]', '[[7, 9]]']),
  meaning('arguments', 'one account more is archived', ['[[7, 8]]', '[[7, 8, 9]]']),
  meaning('arguments', 'ids are texts', ['[[7, 8]]', "[['7', '8']]"]),
  meaning('arguments', 'another file', ["'jobs/archive.js'", "'jobs/archive.mjs'"]),
  meaning('arguments', 'a file outside', ["'jobs/archive.js'", "'../jobs/archive.js'"]),
  meaning('arguments', 'another channel', ['channel: `#${task.team}`', "channel: '#general'"]),
  meaning('arguments', 'the languages are mixed up', [
    'for (const [language, text] of Object.entries(texts))',
    'for (const [text, language] of Object.entries(texts))',
  ]),
  meaning('arguments', 'texts are trimmed to a length', ['language, text })', 'language, text: text.slice(0, 60) })']),
  meaning('order', 'it tells in another order', ['Object.entries(texts))', 'Object.entries(texts).toReversed())']),
  meaning('order', 'it writes before it asks', [
    "        await query(archiving, [[7, 8]])\n        return write('jobs/archive.js', job)",
    "        await write('jobs/archive.js', job)\n        return query(archiving, [[7, 8]])",
  ]),
  meaning('tools', 'another tool', ["tool('shell'", "tool('remote_shell'"]),
  meaning('tools', 'a call is left out', ['        await query(archiving, [[7, 8]])\n', '']),
  meaning('tools', 'a call is made twice', [
    '        await query(archiving, [[7, 8]])\n',
    '        await query(archiving, [[7, 8]])\n        await query(archiving, [[7, 8]])\n',
  ]),
  meaning('prose, English', 'it says the same in other words', [
    'Hello team, the clean-up ran',
    'Hi all, the clean-up was run',
  ]),
  meaning('code', 'another indentation', ['\n    const account = await', '\n  const account = await']),
  meaning('code', 'another result', ['return ids.length', 'return ids.length - 1']),
  meaning('code', 'it does not wait', ['const account = await store.get(id)', 'const account = store.get(id)']),
  meaning('sql', 'another order', ['ORDER BY seen ASC', 'ORDER BY seen DESC']),
  meaning('sql', 'another column', ['SELECT a.id, a.email,', 'SELECT a.id, a.phone,']),
  meaning('sql', 'a table of another schema', ['FROM accounts AS a', 'FROM backup.accounts AS a']),

  harmless('spelling', 'the prompt is one part', [
    'system: instructions',
    "system: [{ type: 'text', text: instructions }]",
  ]),
  harmless('spelling', 'the question is one part', [
    'content: `Clean up for ${task.team} on ${task.branch}.` }',
    "content: [{ type: 'text', text: `Clean up for ${task.team} on ${task.branch}.` }] }",
  ]),
  harmless('spelling', 'results say that they are no errors', [
    "content: JSON.stringify(await step(name ?? '')) }",
    "is_error: false, content: JSON.stringify(await step(name ?? '')) }",
  ]),
  harmless('spelling', 'results are one part', [
    "content: JSON.stringify(await step(name ?? '')) }",
    "content: [{ type: 'text', text: JSON.stringify(await step(name ?? '')) }] }",
  ]),
  harmless('spelling', 'the prompt is cached', [
    'system: instructions',
    "system: [{ type: 'text', text: instructions, cache_control: { type: 'ephemeral' } }]",
  ]),
  harmless('spelling', 'tools are custom', ['  name,\n  description', "  type: 'custom',\n  name,\n  description"]),
  harmless('spelling', 'defaults are said', [body, `${body}, tool_choice: { type: 'auto' }, stream: false`]),
  harmless('bookkeeping', 'metadata', [body, `${body}, metadata: { user_id: 'cleanup' }`]),
  harmless('spelling', 'keys in another order', [body, 'tools: offered, messages, system: instructions, ...settings']),
  harmless('refactoring', 'the statement is put together', [
    'const archiving = `UPDATE accounts SET',
    "const archiving = `${'UPDATE'} accounts SET",
  ]),
  harmless('refactoring', 'the channel is put together', [
    'channel: `#${task.team}`',
    "channel: ['#', task.team].join('')",
  ]),
  harmless('refactoring', 'a switch becomes conditions', [
    "      case 'find_stale':\n        return query",
    "      case ['find', 'stale'].join('_'):\n        return query",
  ]),
  question('params', 'a little more room', ['max_tokens: 1_000', 'max_tokens: 1_200']),
  question('tools', 'descriptions', ['One step of the clean-up:', 'A step of the clean-up:']),
  question('tools', 'the order of the tools', ['tools: offered }', 'tools: offered.toReversed() }']),
  question('tools', 'no more than stated', [
    "input_schema: { type: 'object', properties: {} }",
    "input_schema: { type: 'object', properties: {}, additionalProperties: false }",
  ]),
]
