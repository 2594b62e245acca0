/** Test projects: `unit` and `integration` need nothing installed, `real` runs against a real control plane. */
import { defineConfig } from 'vitest/config'

const everywhere = ['packages', 'operators', 'tools', 'bench']
const ignored = ['**/node_modules/**', '**/dist/**']

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: everywhere.map((root) => `${root}/**/src/**/*.test.ts`),
          exclude: [...ignored, '**/*.real.test.ts'],
          // Property tests take their time on a busy machine; none of them is about time.
          testTimeout: 30_000,
        },
      },
      {
        test: {
          name: 'integration',
          include: everywhere.map((root) => `${root}/**/test/**/*.test.ts`),
          exclude: [...ignored, '**/*.real.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'real',
          include: [
            ...everywhere.map((root) => `${root}/**/*.real.test.ts`),
            ...everywhere.map((root) => `${root}/**/test/**/*.cluster.test.ts`),
          ],
          exclude: ignored,
          // A real control plane deletes namespaces in its own time, all the more when suites end together.
          testTimeout: 240_000,
          hookTimeout: 240_000,
          env: { REEVE_TEST_CLUSTER: 'real' },
        },
      },
    ],
  },
})
