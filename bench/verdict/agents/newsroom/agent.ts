// A newsroom: three agents that hand work to each other, two models, and a person who has the last word.
import OpenAI from 'openai'
import { mark, message, tools } from '../../../../src/record/index.ts'

interface Assignment {
  readonly topic: string
  readonly words: number
  readonly editor: string
}

const client = new OpenAI({ apiKey: process.env['OPENAI_API_KEY'] ?? 'sk-not-a-key', maxRetries: 0 })

const roles = {
  reporter: 'You are a reporter. State only what two sources confirm. Never name a minor.',
  checker: 'You check facts. List every claim that is not supported, one per line. Say NONE if all are.',
  editor: 'You are the editor. Cut what the checker doubts. Keep the headline under 60 characters.',
}

const desk = tools({
  archive_search: async (_query: { text: string; from: string }) => [
    'The bridge opened in 1934.',
    'It was closed in 2021.',
  ],
  publish: async (story: { headline: string; text: string; embargo: string }) => ({
    url: `/news/${story.text.length}`,
  }),
})

/** Writes, checks and edits a story, then publishes it. */
export async function agent(assignment: Assignment): Promise<{ readonly url: string }> {
  message('desk', 'reporter', { topic: assignment.topic, words: assignment.words })
  const found = await desk.archive_search({ text: assignment.topic, from: '2020-01-01' })
  const draft = await ask(
    'reporter',
    'gpt-5',
    `Topic: ${assignment.topic}. At most ${assignment.words} words.\nSources:\n${found.join('\n')}`,
  )
  message('reporter', 'checker', { draft, sources: found.length })
  mark('drafted', { words: assignment.words })
  const doubts = await ask('checker', 'gpt-5-mini', `Check this:\n${draft}`)
  message('checker', 'editor', { doubts, severity: 'high' })
  mark('checked', { by: 'checker', doubts: doubts.split('\n').length })
  const headline = await ask('editor', 'gpt-5', `Draft:\n${draft}\n\nDoubts:\n${doubts}`)
  message('editor', assignment.editor, `Please approve: ${headline}`)
  mark('approved')
  const { url } = await desk.publish({ headline, text: draft, embargo: '2026-04-01T06:00:00Z' })
  message('editor', 'desk', { url, status: 'published' })
  return { url }
}

async function ask(role: keyof typeof roles, model: string, text: string): Promise<string> {
  const completion = await client.chat.completions.create({
    model,
    temperature: role === 'editor' ? 0.7 : 0,
    messages: [
      { role: 'system', content: roles[role] },
      { role: 'user', content: text },
    ],
  })
  return completion.choices[0]?.message.content ?? ''
}
