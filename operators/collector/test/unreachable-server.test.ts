/** The operator starts before its API server, or survives it. */
import { fileURLToPath } from 'node:url'
import { runWithoutServer } from '@reeve/cli/testing'
import { expect, test } from 'vitest'
import { main } from '../src/cli/main.ts'
import { helmPath } from './support/stage.ts'

const settings = fileURLToPath(new URL('../samples/settings.yaml', import.meta.url))

test.skipIf(helmPath === undefined)(
  'run retries while there is no API server, says so once with the remedy, and stops on Ctrl-C (skipped without helm)',
  async () => {
    const { code, problems, server } = await runWithoutServer(
      main,
      ['run', `--settings=${settings}`, '--health-port=0', '--log-level=debug'],
      { env: { HELM_BIN: helmPath }, interruptOn: /interrupted.*interrupted.*interrupted/s },
    )
    expect(code).toBe(0)
    // A minute later it would be said again.
    expect([...new Set(problems)]).toEqual([
      `cannot reach the API server ${server} (connect ECONNREFUSED 127.0.0.1:9); retrying. ` +
        'Check the address and whether the server runs',
    ])
  },
)
