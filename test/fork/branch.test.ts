import { copyFileSync, renameSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { forkTape } from '../../src/fork/index.ts'
import { installReplay, replayTape } from '../../src/replay/index.ts'
import { promote } from '../../src/recordings/index.ts'
import { readTape, readTapeHeader, stepsOf, streamTape, type Tape } from '../../src/tape/index.ts'
import { agent, openWorld, type World } from './world.ts'

let world: World
let parent: Tape
beforeAll(async () => {
  await installReplay()
  world = await openWorld()
  parent = await world.record(agent, { base: world.base, topic: 'b', turns: 3, width: 3, draws: true, pauseMs: 1 })
})
afterAll(() => world.close())

const stop = { body: { choices: [{ message: { content: '{"calls":[]}' } }] } }

async function branched(tape: Tape, keep: number): Promise<string> {
  const { branch, problems } = await forkTape(tape, agent, { keep, tail: { from: 'script', answer: () => stop } })
  expect(problems).toEqual([])
  const file = join(dirname(tape.source), branch.tape.source)
  writeFileSync(file, branch.text)
  expect(readTape(file).events).toEqual(branch.tape.events)
  return file
}

/** The step behind which the model is asked for the last time. */
function beforeLastQuestion(tape: Tape): number {
  return stepsOf(tape).findLastIndex((step) => step.kind === 'exchange' && step.method === 'POST')
}

test('a branch holds its own events alone, and reads as the whole run', async () => {
  const keep = beforeLastQuestion(parent)
  const file = await branched(parent, keep)
  const tape = readTape(file)
  const own = readTapeHeader(file).parent
  expect(own).toMatchObject({ id: parent.header.id, file: basename(parent.source), digest: parent.digest, keep })
  expect(tape.events.slice(0, own?.events)).toEqual(parent.events.slice(0, own?.events))
  expect(own?.events).toBeGreaterThan(keep)
  const streamed: unknown[] = []
  for await (const line of streamTape(file)) streamed.push(line)
  expect(new Set(streamed.map((line) => JSON.stringify(line)))).toEqual(
    new Set([...tape.events, tape.close].map((line) => JSON.stringify(line))),
  )
})

test('a branch replays as any other tape, and so does a branch of a branch', async () => {
  const first = readTape(await branched(parent, beforeLastQuestion(parent)))
  const second = readTape(await branched(first, 1))
  for (const tape of [first, second]) {
    const replay = await replayTape(tape, agent)
    expect(replay.problems.map(({ message }) => message)).toEqual([])
    expect(replay.comparison).toMatchObject({ outcomeEqual: true, drawsMissed: 0 })
    const { branch } = await forkTape(tape, agent, { keep: stepsOf(tape).length, tail: { from: 'tape' } })
    expect(branch.ownEvents).toEqual([])
  }
})

test('a promoted branch stands by itself', async () => {
  const file = await branched(parent, 1)
  const { tapeFile } = promote({ tape: file, as: 'a-branch', recordings: join(world.dir, 'recordings') })
  const promoted = readTape(tapeFile)
  expect(promoted.header.parent).toBeUndefined()
  expect(promoted.events).toEqual(readTape(file).events)
})

test('a branch without its parent, or with another one, says so', async () => {
  const other = await world.record(agent, {
    base: world.base,
    topic: 'o',
    turns: 1,
    width: 1,
    draws: false,
    pauseMs: 0,
  })
  const file = await branched(other, 1)
  const away = `${other.source}.away`
  renameSync(other.source, away)
  expect(() => readTape(file)).toThrowError(expect.objectContaining({ code: 'HARVEST_TAPE_PARENT' }) as Error)
  await expect(streamTape(file).next()).rejects.toMatchObject({ code: 'HARVEST_TAPE_PARENT' })
  copyFileSync(parent.source, other.source)
  expect(() => readTape(file)).toThrowError(/was changed since, or is another tape of this name/)
  renameSync(away, other.source)
  expect(readTape(file).events.length).toBeGreaterThan(0)
})
