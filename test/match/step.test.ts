import { expect, test } from 'vitest'
import { childName, describeAsked } from '../../src/match/step.ts'
import { urlOfCommand } from '../../src/seam/stdio.ts'

test('a child process is named by its command as it is typed, in one line, and no longer than 80 characters', () => {
  const script = "\n  require('node:readline').createInterface({ input: process.stdin })"
  expect(childName(urlOfCommand(['/usr/bin/node', 'server.ts', '--city', 'Zürich']))).toBe(
    'stdio:node server.ts --city Z%C3%BCrich',
  )
  expect(childName(urlOfCommand(['node', '-e', script.slice(0, 40)]))).toBe(
    "stdio:node -e require('node:readline').createInterf",
  )
  expect(childName(urlOfCommand(['node', '-e', script.repeat(9)]))).toMatch(/^stdio:node -e require\(.{55,60}…$/)
  expect(childName('stdio:node 50% done')).toBe('stdio:node 50% done')
})

test.each([
  ['a tool of an MCP server', { method: 'tools/call', params: { name: 'refund', arguments: {} } }, 'tools/call refund'],
  ['a prompt', { method: 'prompts/get', params: { name: 'greet' } }, 'prompts/get greet'],
  ['a resource', { method: 'resources/read', params: { uri: 'shop://policy' } }, 'resources/read shop://policy'],
  ['what needs no name', { method: 'tools/list' }, 'tools/list'],
])('a request says that it asks for %s, over HTTP and over stdio', (_, message, said) => {
  const text = JSON.stringify({ jsonrpc: '2.0', id: 1, ...message })
  expect(describeAsked({ via: 'undici', method: 'POST', url: 'https://mcp.example/mcp' }, text)).toBe(
    `${said} on mcp.example/mcp`,
  )
  const stdio = { via: 'stdio', method: message.method, url: 'stdio:node server.ts' } as const
  expect(describeAsked(stdio, text)).toBe(`${said} on stdio:node server.ts`)
})

test('any other request is named by its method and address', () => {
  const request = { via: 'undici', method: 'POST', url: 'https://shop.example/orders?id=7' } as const
  expect(describeAsked(request, '{"method":"tools/call","params":{"name":"refund"}}')).toBe(
    'POST shop.example/orders?id=7',
  )
  expect(describeAsked(request, '{"jsonrpc":"2.0","id":1,"result":{}}')).toBe('POST shop.example/orders?id=7')
})
