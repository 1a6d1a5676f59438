import type { Heard, Scene } from '../../world/types.ts'

const files: Readonly<Record<string, string>> = {
  'notes/a.md': `# Alpha\n${'about the launch of the product '.repeat(2)}and what the budget allows`,
  'notes/b.md': '# Beta\nnothing of interest',
  'notes/c.md': `# Gamma\nthe budget of next year\n${'and more '.repeat(40)}`,
  'drafts/d.md': '# Delta\nlaunch',
}
const schema = { type: 'object', properties: { path: { type: 'string' } } }
const described = [
  { name: 'list_files', description: 'Files of a folder', readOnlyHint: true },
  { name: 'read_file', description: 'Text of a file', readOnlyHint: true },
  { name: 'write_file', description: 'Replaces a file', readOnlyHint: false },
  { name: 'delete_file', description: 'Removes a file', readOnlyHint: false },
]

/** The model lists, reads file by file, first tries to write an index at the root, and is refused. */
export const scene: Scene = {
  inputs: [
    { folder: 'notes', word: 'budget', mayWrite: true },
    { folder: 'notes', word: 'launch', mayWrite: false },
    { folder: 'drafts', word: 'launch', mayWrite: true },
  ],
  open: () => ({
    decide({ model, system, user, tools, results }) {
      const [, folder = '', word = ''] =
        /files in (\S+) that mention "(\w+)"/.exec(user.join('\n')) ??
        /folder (\w+).*?"(\w+)"/s.exec(user.join('\n')) ??
        []
      const heard = (name: string): readonly Heard[] => results.filter((result) => result.name === name)
      const [list] = heard('list_files')
      if (list === undefined) return [{ name: 'list_files', args: { path: folder } }]
      const names = list.text.split('\n').filter((name) => name.startsWith(`${folder}/`))
      const read = heard('read_file')
      const next = names.find((name) => !read.some(({ args }) => args['path'] === name))
      const isThorough = model === 'gpt-5' && !/at most one file/i.test(system)
      if (next !== undefined && (isThorough || read.length === 0)) return [{ name: 'read_file', args: { path: next } }]
      const found = read.filter(({ text }) => text.includes(word)).map(({ args }) => String(args['path']))
      const index = `${word}: ${found.join(', ') || 'none'}`
      const writes = heard('write_file')
      if (!tools.includes('write_file')) return `Not written. ${index}`
      if (tools.includes('delete_file') && writes.length === 0) {
        return [
          { name: 'delete_file', args: { path: `${folder}/index.md` } },
          { name: 'write_file', args: { path: `${folder}/index.md`, text: index } },
        ]
      }
      if (writes.length === 0) return [{ name: 'write_file', args: { path: 'index.md', text: index } }]
      if (writes.length === 1 && writes[0]?.text.startsWith('refused')) {
        return [{ name: 'write_file', args: { path: `${folder}/index.md`, text: index } }]
      }
      return index
    },
    serve({ path, body }) {
      if (path === '/tools') {
        return {
          body: described.map(({ name, description, readOnlyHint }) => {
            return { name, description, inputSchema: schema, annotations: { readOnlyHint } }
          }),
        }
      }
      const of = String(body['path'])
      if (path === '/list_files')
        return {
          body: Object.keys(files)
            .filter((name) => name.startsWith(of))
            .join('\n'),
        }
      if (path === '/read_file') return of in files ? { body: files[of] } : { status: 404, body: `no file ${of}` }
      return { body: 'done' }
    },
  }),
}
