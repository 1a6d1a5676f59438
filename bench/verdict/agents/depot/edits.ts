import { type Edit, harmless, meaning } from '../../edits.ts'
import type { Text } from '../../operators.ts'

export const of = 'SQLite behind `client()`, a child process that says lines of JSON, a WebSocket'

export const files = ['picker.mjs']

export const texts: readonly Text[] = [
  {
    of: 'sql',
    text: 'select sku, pieces from stock where depot = ? and pieces < ?',
    swaps: [
      ['<', '<='],
      ['and', 'or'],
      ['sku, pieces', '*'],
    ],
  },
  {
    of: 'sql',
    text: 'update stock set pieces = pieces + ? where sku = ?',
    swaps: [
      ['+', '-'],
      [' where sku = ?', ' where sku <> ?'],
    ],
  },
  {
    of: 'line',
    text: 'Take the oldest first.',
    swaps: [
      ['oldest', 'newest'],
      ['first', 'last'],
    ],
  },
]

const update = "    db.prepare('update stock set pieces = pieces + ? where sku = ?').run(picked, sku)\n"
const log = "    db.prepare('insert into log (sku, pieces) values (?, ?)').run(sku, picked)\n"

export const edits: readonly Edit[] = [
  meaning('database', 'another parameter', ['all(depot, below)', 'all(depot, below + 1)']),
  meaning('database', 'parameters change places', ['all(depot, below)', 'all(below, depot)']),
  meaning('database', 'a parameter is a text', ['all(depot, below)', 'all(depot, String(below))']),
  meaning('database', 'the log is left out', [log, '']),
  meaning('database', 'the update is left out', [update, '']),
  meaning('database', 'the log comes first', [`${update}${log}`, `${log}${update}`]),
  meaning('database', 'the log is written twice', [log, `${log}${log}`]),
  meaning('database', 'rolled back', ["exec('commit')", "exec('rollback')"]),
  meaning('database', 'never committed', ["  db.exec('commit')\n", '']),
  meaning('database', 'no transaction', ["  db.exec('begin immediate')\n", ''], ["  db.exec('commit')\n", '']),
  meaning('database', 'another transaction', ['begin immediate', 'begin']),
  meaning(
    'database',
    'committed before it is logged',
    [log, `    db.exec('commit')\n${log}`],
    ["  }\n  db.exec('commit')\n", '  }\n'],
  ),
  meaning('database', 'closed at the end', ['  return { picked', '  db.close()\n  return { picked']),
  meaning('database', 'one row instead of all', ['.all(depot, below)', '.iterate(depot, below).toArray()']),
  meaning('child', 'another mode', ["'careful'", "'quick'"]),
  meaning('child', 'another server', ['https://wms.example/v1', 'https://other.example/v1']),
  meaning('child', 'no server', [", '--server', 'https://wms.example/v1'", '']),
  meaning('child', 'one flag more', ["'--mode',", "'--force', '--mode',"]),
  meaning('child', 'more pieces', ['pieces: 12 })', 'pieces: 13 })']),
  meaning('child', 'pieces as a text', ['pieces: 12 })', "pieces: '12' })"]),
  meaning('child', 'another thing is picked', ["say({ type: 'pick', sku,", "say({ type: 'pick', sku: 'coffee',"]),
  meaning('child', 'picked twice', [
    "say({ type: 'pick', sku, pieces: 12 })",
    "{\n      say({ type: 'pick', sku, pieces: 12 })\n      say({ type: 'pick', sku, pieces: 12 })\n    }",
  ]),
  meaning('child', 'another reason', ["'enough'", "'tired'"]),
  meaning('child', 'no reason', [", reason: 'enough'", '']),
  meaning('child', 'no rule', [", rule: 'Take the oldest first.'", '']),
  meaning('child', 'told of the depot as well', ["{ type: 'start',", "{ type: 'start', depot: 'south',"]),
  meaning('child', 'killed instead of stopped', ["say({ type: 'stop', reason: 'enough' })", 'child.kill()']),
  meaning('child', 'stopped twice', [
    "if (line.type === 'picked') say({ type: 'stop', reason: 'enough' })",
    "if (line.type === 'picked') say({ type: 'status' })\n    if (line.type === 'picked') say({ type: 'stop', reason: 'enough' })",
  ]),
  meaning('child', 'not asked at all', ['await pick(skus)', '12']),
  meaning('child', 'asked twice', ['await pick(skus)', '(await pick(skus)) && (await pick(skus))']),
  meaning('socket', 'another text', ['`refilled ', '`filled ']),
  meaning('socket', 'another address', ['/display?', '/displays?']),
  meaning('socket', 'another floor', ['floor=2', 'floor=3']),
  meaning('socket', 'no floor', ['?floor=2', '']),
  meaning('socket', 'another protocol', ["'display.v2'", "'display.v1'"]),
  meaning('socket', 'no protocol', [", ['display.v2']", '']),
  meaning('socket', 'the bell rings', ['bell: false', 'bell: true']),
  meaning('socket', 'no word of the bell', ['  socket.send(JSON.stringify({ bell: false }))\n', '']),
  meaning('socket', 'other bytes', ['[7, 1]', '[7, 2]']),
  meaning('socket', 'bytes as a text', ['Buffer.from([7, 1])', "'\\u0007\\u0001'"]),
  meaning('socket', 'no bytes', ['  socket.send(Buffer.from([7, 1]))\n', '']),
  meaning('socket', 'a text as bytes', [
    'socket.send(JSON.stringify({ text }))',
    'socket.send(Buffer.from(JSON.stringify({ text })))',
  ]),
  meaning('socket', 'the text is sent twice', [
    'socket.send(JSON.stringify({ text }))',
    'socket.send(JSON.stringify({ text }))\n  socket.send(JSON.stringify({ text }))',
  ]),
  meaning('socket', 'the bell comes after the bytes', [
    '  socket.send(JSON.stringify({ bell: false }))\n  socket.send(Buffer.from([7, 1]))\n',
    '  socket.send(Buffer.from([7, 1]))\n  socket.send(JSON.stringify({ bell: false }))\n',
  ]),
  meaning('socket', 'closed for another reason', ["'shown'", "'bored'"]),
  meaning('socket', 'closed with another code', ["1000, 'shown'", "4000, 'shown'"]),
  meaning('socket', 'nothing is shown', ["await show(`refilled ${skus.join(', ')}`)", '\'{"ok":true}\'']),
  meaning('socket', 'shown twice', [
    '  const shown = await show(',
    "  await show('soon')\n  const shown = await show(",
  ]),
  meaning(
    'order',
    'shown before it is booked',
    ["  db.exec('begin immediate')\n", "  const early = await show('soon')\n  db.exec('begin immediate')\n"],
    ['return { picked, total, shown }', 'return { picked, total, shown, early }'],
  ),
  harmless('refactoring', 'the keys of a line in another order', [
    "say({ type: 'pick', sku, pieces: 12 })",
    "say({ pieces: 12, sku, type: 'pick' })",
  ]),
  harmless('refactoring', 'a line is written in pieces', [
    'void child.stdin.write(`${JSON.stringify(line)}\\n`)',
    "void (child.stdin.write(JSON.stringify(line)), child.stdin.write('\\n'))",
  ]),
  harmless(
    'refactoring',
    'statements are prepared before',
    [
      '  for (const sku of skus) {\n',
      "  const booking = db.prepare('insert into log (sku, pieces) values (?, ?)')\n  for (const sku of skus) {\n",
    ],
    [log, '    booking.run(sku, picked)\n'],
  ),
]
