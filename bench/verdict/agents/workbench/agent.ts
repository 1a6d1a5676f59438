// A colleague at the workbench: the model decides when, and code says what goes to the database, the shell and people.
import { tool } from '../../../../src/record/index.ts'

interface Task {
  readonly branch: string
  readonly since: string
  readonly team: string
}

const query = tool('query', async (statement: string, values: readonly unknown[]) => [{ id: 7, values: values.length }])
const shell = tool('shell', async (command: string) => ({ exit: 0, command: command.length }))
const write = tool('write_file', async (path: string, text: string) => ({ path, bytes: text.length }))
const post = tool('post_message', async (message: { channel: string; language: string; text: string }) => ({
  posted: message.channel,
}))

const instructions = 'You run the weekly clean-up. Call the tools one after the other, then sum up.'

const settings = { model: 'claude-opus-4', max_tokens: 1_000 }

const offered = ['find_stale', 'archive', 'publish', 'tell_everybody'].map((name) => ({
  name,
  description: `One step of the clean-up: ${name.replace('_', ' ')}.`,
  input_schema: { type: 'object', properties: {} },
}))

const stale = `SELECT a.id, a.email, MAX(l.at) AS seen
FROM accounts AS a
LEFT JOIN logins AS l ON l.account_id = a.id
WHERE a.tenant_id = $1 AND a.deleted_at IS NULL AND a.plan <> 'enterprise'
GROUP BY a.id, a.email
HAVING MAX(l.at) < $2 OR COUNT(l.id) = 0
ORDER BY seen ASC
LIMIT 200`

const archiving = `UPDATE accounts SET status = 'archived', archived_at = now() WHERE id = ANY($1) AND status <> 'locked' RETURNING id`

const texts = {
  en: 'Hello team, the clean-up ran on Monday. Nobody was deleted; 200 accounts were archived. Write to Ines before Friday if an account should stay.',
  de: 'Hallo zusammen, am Montag lief das Aufräumen. Es wurde niemand gelöscht; 200 Konten wurden archiviert. Schreibt vor Freitag an Ines, wenn ein Konto bleiben soll.',
  fr: "Bonjour à tous, le nettoyage a eu lieu lundi. Personne n'a été supprimé ; 200 comptes ont été archivés. Écrivez à Ines avant vendredi si un compte doit rester.",
  ja: 'みなさん、月曜日に整理を実行しました。削除されたアカウントはありません。200件を保管しました。残したいものは金曜日までにInesへ連絡してください。',
}

const job = `export async function archive(ids, store) {
  for (const id of ids) {
    const account = await store.get(id)
    if (account === undefined || account.locked) continue
    if (account.balance > 0 && !account.consent) continue
    await store.put(id, { ...account, status: 'archived' })
  }
  return ids.length
}
`

/** Runs what the model asks for, step by step. */
export async function agent(task: Task): Promise<string> {
  const messages: { role: string; content: unknown }[] = [
    { role: 'user', content: `Clean up for ${task.team} on ${task.branch}.` },
  ]
  for (let turn = 0; turn < 8; turn++) {
    const response = await fetch('https://api.anthropic.com/v1/messages', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-api-key': process.env['ANTHROPIC_API_KEY'] ?? 'sk-ant-not-a-key',
        'anthropic-version': '2023-06-01',
      },
      body: JSON.stringify({ ...settings, system: instructions, messages, tools: offered }),
    })
    if (!response.ok) throw new Error(`model: ${response.status}`)
    const { content } = (await response.json()) as {
      content: readonly { type: string; text?: string; id?: string; name?: string }[]
    }
    messages.push({ role: 'assistant', content })
    const calls = content.filter(({ type }) => type === 'tool_use')
    if (calls.length === 0) return content.map(({ text }) => text ?? '').join('')
    const results: unknown[] = []
    for (const { id, name } of calls) {
      results.push({ type: 'tool_result', tool_use_id: id, content: JSON.stringify(await step(name ?? '')) })
    }
    messages.push({ role: 'user', content: results })
  }
  throw new Error('still cleaning up after 8 turns')

  async function step(name: string): Promise<unknown> {
    switch (name) {
      case 'find_stale':
        return query(stale, [task.team, task.since])
      case 'archive':
        await query(archiving, [[7, 8]])
        return write('jobs/archive.js', job)
      case 'publish': {
        await shell(`git pull --rebase origin ${task.branch} && npm ci --ignore-scripts`)
        await shell(`rsync -a --dry-run --exclude '.env' ./out/ deploy@web-1.example:/srv/${task.team}/`)
        await shell("find /var/tmp/cleanup -name '*.log' -mtime +30 -print0 | xargs -0 gzip -9")
        return shell('kubectl --context staging rollout restart deployment/cleanup -n jobs')
      }
      default: {
        for (const [language, text] of Object.entries(texts)) await post({ channel: `#${task.team}`, language, text })
        return { told: Object.keys(texts).length }
      }
    }
  }
}
