/**
 * Test projects: `unit`, `integration` and `thorough` need nothing installed, `real` runs against a real control plane,
 * `node` on a real node, `browser` in the Chromium of the machine.
 * What is exhaustive, or starts many programs for few assertions, belongs to `thorough`, so that `npm test` stays short.
 */
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { Summary } from './tools/suite/src/summary.ts'

const everywhere = ['packages', 'operators', 'tools', 'bench', 'examples']
// The template of new projects has tests for its own runner.
const ignored = ['**/node_modules/**', '**/dist/**', 'packages/cli/template/**']
// Vitest keeps one core for itself, which on two of them is half of the machine; and many suites mostly wait for programs.
const maxWorkers = availableParallelism() + 2
// No module keeps state of its own, so the files of a worker share what they load: that was most of the time they took.
const isolate = false
// Every process and thread that a test starts loads hundreds of modules: their compiled code is kept.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/compiled')

export default defineConfig({
  test: {
    reporters: ['default', new Summary()],
    projects: [
      {
        test: {
          name: 'unit',
          maxWorkers,
          isolate,
          include: everywhere.map((root) => `${root}/**/src/**/*.test.ts`),
          exclude: [...ignored, '**/*.{browser,node,process,real,thorough}.test.ts'],
          // Property tests take their time on a busy machine; none of them is about time.
          testTimeout: 30_000,
        },
      },
      {
        test: {
          name: 'integration',
          maxWorkers,
          isolate,
          include: everywhere.map((root) => `${root}/**/test/**/*.test.ts`),
          exclude: [...ignored, '**/*.{browser,node,process,real,thorough}.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'fuzz',
          maxWorkers,
          isolate,
          include: everywhere.map((root) => `${root}/**/fuzz/*.fuzz.test.ts`),
          exclude: ignored,
        },
      },
      {
        test: {
          name: 'thorough',
          maxWorkers,
          isolate,
          include: everywhere.map((root) => `${root}/**/*.thorough.test.ts`),
          exclude: ignored,
          testTimeout: 300_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'process',
          // Processes in real time: too slow and too much at the mercy of other work for every commit.
          fileParallelism: false,
          // They mostly wait.
          maxConcurrency: 10,
          isolate,
          include: everywhere.map((root) => `${root}/**/*.process.test.ts`),
          exclude: ignored,
          testTimeout: 600_000,
        },
      },
      {
        test: {
          name: 'real',
          // The control plane wants its share of the cores.
          maxWorkers: availableParallelism(),
          isolate,
          include: [
            ...everywhere.map((root) => `${root}/**/*.real.test.ts`),
            ...everywhere.map((root) => `${root}/**/test/**/*.cluster{,.thorough}.test.ts`),
          ],
          exclude: ignored,
          // A real control plane deletes namespaces in its own time, all the more when suites end together.
          testTimeout: 240_000,
          hookTimeout: 240_000,
          env: { REEVE_TEST_CLUSTER: 'real' },
        },
      },
      {
        test: {
          name: 'browser',
          // A browser, an embedded cluster and all operators at a time are enough.
          fileParallelism: false,
          isolate,
          include: everywhere.map((root) => `${root}/**/*.browser.test.ts`),
          exclude: ignored,
          testTimeout: 180_000,
          hookTimeout: 240_000,
        },
      },
      {
        test: {
          name: 'node',
          // All suites use the same node, and most of their time they wait for its kubelet.
          maxWorkers: 2,
          isolate,
          include: everywhere.map((root) => `${root}/**/*.node.test.ts`),
          exclude: [...ignored, '**/*.alone.node.test.ts'],
          // On a busy machine even containers take a minute to start.
          testTimeout: 600_000,
          hookTimeout: 600_000,
        },
      },
      {
        test: {
          name: 'node-alone',
          // They kill components of the node, or install the same chart.
          fileParallelism: false,
          sequence: { groupOrder: 1 },
          isolate,
          include: everywhere.map((root) => `${root}/**/*.alone.node.test.ts`),
          exclude: ignored,
          testTimeout: 600_000,
          hookTimeout: 600_000,
        },
      },
    ],
  },
})
