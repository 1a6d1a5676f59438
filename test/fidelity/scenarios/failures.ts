import axios from 'axios'
import got from 'got'
import { request } from 'undici'
import type { Scenario } from './scenario.ts'
import { complete, openai, read, streamText } from './streams.ts'

/** Connections that fail: before, at, and in the middle of an answer. */
export const failures: Readonly<Record<string, Scenario>> = {
  'fetch meets a reset connection': { run: async (place) => (await fetch(`${place.faulty('resetx9')}/x`)).status },
  'got meets a reset connection': {
    run: async (place) => (await got(`${place.faulty('resetx9')}/x`, { retry: { limit: 0 } })).statusCode,
  },
  'axios meets a reset connection': { run: async (place) => (await axios.get(`${place.faulty('resetx9')}/x`)).status },
  'undici meets a reset connection': {
    run: async (place) => (await request(`${place.faulty('resetx9')}/x`)).statusCode,
  },
  'fetch is refused a connection': {
    run: async ({ closedPort }) => (await fetch(`http://127.0.0.1:${closedPort}/x`)).status,
  },
  'axios is refused a connection': {
    run: async ({ closedPort }) => (await axios.get(`http://127.0.0.1:${closedPort}/x`)).status,
  },
  'fetch asks for a name that does not exist': { run: async () => (await fetch('http://nowhere.invalid/x')).status },
  'fetch loses the connection half way through JSON': { run: (place) => read(place, 'dropmid', { body: '{}' }) },
  'fetch loses the connection half way through a stream': { run: (place) => read(place, 'dropmid+slow2') },
  'openai loses the connection half way through a stream': {
    run: (place) => streamText(openai(place, 'dropmid+slow2', { maxRetries: 0 })),
  },
  'openai loses the connection half way through JSON once and does not try again': {
    run: (place) => complete(openai(place, 'dropmidx1')),
  },
  'got loses the connection half way through JSON': {
    run: (place) => got.post(`${place.faulty('dropmid')}/vector/search`, { json: {}, retry: { limit: 0 } }).text(),
  },
  'axios loses the connection half way through JSON': {
    run: async (place) => (await axios.post<unknown>(`${place.faulty('dropmid')}/vector/search`, {})).data,
  },
}
