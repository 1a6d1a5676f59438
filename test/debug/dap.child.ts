// The debug adapter as an editor starts it: the official test client starts one file, without arguments.
process.argv.splice(
  2,
  process.argv.length,
  'debug',
  '--dap',
  ...(process.env['HARVEST_TEST_DAP'] ?? '').split(' ').filter(Boolean),
)
await import(new URL('../../dist/cli/main.js', import.meta.url).href)
