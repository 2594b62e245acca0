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
        },
      },
      {
        test: {
          name: 'integration',
          include: everywhere.map((root) => `${root}/**/test/**/*.test.ts`),
          exclude: [...ignored, '**/*.real.test.ts'],
          testTimeout: 30_000,
          hookTimeout: 30_000,
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
          testTimeout: 120_000,
          hookTimeout: 120_000,
          env: { REEVE_TEST_CLUSTER: 'real' },
        },
      },
    ],
  },
})
