import { configDefaults, defineConfig } from 'vitest/config'
import type * as plugin from './src/vitest/plugin.ts'
import { leaveOuterRepository } from './test/support/outer-repository.ts'
import { SlowestFirst } from './test/support/slowest-first.ts'

// Named outside of its import: Node reads it. What an import names by its path Vite bundles, twice in each run: two seconds.
const source = new URL('./src/vitest/plugin.ts', import.meta.url).href
const { harvest } = (await import(source)) as typeof plugin

/**
 * Tests that start nothing that lasts, patch nothing and leave nothing behind: their files share workers, and what one
 * loaded is there for the next. Programs that they start have processes of their own. Those left out install a recorder or
 * a replay, which patch the process for good, or set an environment variable for a whole file.
 */
const pure = [
  // A slice of the bench of secrets is a test as well.
  'bench/secrets/slice.test.ts',
  'test/blame/!(blame|fork-source|paid-grading).test.ts',
  'test/importers/!(loop|mcp|recorders|replay).test.ts',
  'test/report/{page,pages,serve,table,view}.test.ts',
  'test/{cases,check,errors,exporters,json,live,privacy,providers,provenance,rules,stats,support,trace}/*.test.ts',
  'test/cli/{alternatives,blame-print,diff,export,import,program,prune,reading,report,told}.test.ts',
  'test/cli/{below-the-project,blame,chaos,check,control,demote,examples,exit,finer-answer,fix,flags}.test.ts',
  'test/cli/{fork,forking,kept,next-at-once,next-commands,next-commands-free}.test.ts',
  'test/cli/{next-commands-refused,odd-files,patch,patched,recorded-program,renamed-cases,show-clients,usage}.test.ts',
  'test/cli/{pins,prove,rerun,review,rm,show,validate}.test.ts',
  'test/docs/{boundary,claims,errors,figures,links,package,pages,security,shell,stacks,workflow}.test.ts',
  'test/debug/{cells,checkpoints,ends,prompt,rows,servers,session}.test.ts',
  'test/faults/{kinds,shrinking}.test.ts',
  'test/fork/{decided-calls,edits,json-patch,kept-forks}.test.ts',
  'test/history/history.test.ts',
  'test/host/*.test.ts',
  'test/isolate/isolate.test.ts',
  'test/library/{library,reference,start-vitest}.test.ts',
  'test/{doctor/{doctor,fixes},match/{difference,header-redactor,matcher},playback/{bursts,timer-queue}}.test.ts',
  'test/record/{clock,elsewhere,flat,program,runtime,sample,service,trouble}.test.ts',
  'test/recordings/{branches,case-of-tape,cases,demote,empty,files,golden-set,groups,promote}.test.ts',
  'test/recordings/{removal,secrets,tape-facts,tapes}.test.ts',
  'test/replay/{changed-questions,commands}.test.ts',
  'test/seam/{body-ahead,package-layers,websocket-frames}.test.ts',
  'test/validation/{competing,structural,validate}.test.ts',
  'test/review/*.test.ts',
  'test/tape/!(kill).test.ts',
  'test/vitest/!(add-reporters|forget-case|running-cases).test.ts',
  'test/{architecture,production,repository,words}.test.ts',
]

/**
 * Tests that record or replay and leave nothing else behind: their files share workers that are patched from the start.
 * Those left out look at a process that is not patched yet, leave timers or requests under way, or change what is global.
 */
const patched = [
  'test/fork/!(control|prove|sdk).test.ts',
  'test/importers/!(loop).test.ts',
  'test/{history,match,realtime,verdict}/*.test.ts',
  'test/record/!(response|servers|wire).test.ts',
  'test/replay/!(changed-timers|importing|late|not-seen|shared|told-errors).test.ts',
  'test/seam/**/!(plain-fetch|tool-contexts|traps).test.ts',
]

// Here, so that every worker and every program that a test starts is without them.
leaveOuterRepository(process.env)

export default defineConfig({
  // This repository's own golden set runs with its tests.
  plugins: [
    harvest({
      agents: {
        refund: './fixtures/refund/refund-agent.ts#refundAgent',
        triage: './fixtures/desk/triage.ts#triage',
        stock: './fixtures/desk/stock.ts#stock',
        parcel: './fixtures/desk/parcel.ts#parcel',
        returns: './fixtures/desk/returns.ts#returns',
        'front-desk': './fixtures/desk/front-desk.ts#frontDeskAgent',
      },
      // Recorded at a provider that stands in for those the agents ask.
      hosts: {
        'http://127.0.0.1:45209': [
          'https://api.openai.com',
          'https://api.anthropic.com',
          'https://generativelanguage.googleapis.com',
        ],
      },
    }),
  ],
  test: {
    // Many tests wait for real programs: four at a time keep both cores of a small machine at work.
    maxWorkers: 4,
    // Only what waits for ever meets a limit: on a machine that does other work, a minute becomes many.
    testTimeout: 900_000,
    hookTimeout: 900_000,
    sequence: { sequencer: SlowestFirst },
    tags: [
      {
        name: 'thorough',
        description: 'Takes many seconds, and shows at length what another test shows in short: npm run test:all',
      },
    ],
    setupFiles: ['./test/support/fixed-seeds.ts', './test/support/leave-nothing.ts'],
    projects: [
      { extends: true, test: { name: 'pure', include: pure, isolate: false } },
      {
        extends: true,
        test: {
          name: 'patched',
          include: patched,
          exclude: [...configDefaults.exclude, ...pure],
          isolate: false,
          setupFiles: './test/support/patched.ts',
        },
      },
      {
        extends: true,
        test: {
          name: 'isolated',
          // Slices of the benches of verdicts and of layers are tests as well.
          include: ['test/**/*.test.ts', 'bench/verdict/slice.test.ts', 'bench/isolate/slice.test.ts'],
          exclude: [...configDefaults.exclude, ...pure, ...patched],
          // All other files are the business of `npm run check:types`.
          typecheck: { enabled: true, include: ['test/types/*.test-d.ts'], tsconfig: './test/types/tsconfig.json' },
        },
      },
    ],
  },
})
