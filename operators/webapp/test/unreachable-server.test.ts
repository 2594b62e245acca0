/** The operator starts before its API server, or survives it. */
import { runWithoutServer } from '@reeve/cli/testing'
import { expect, test } from 'vitest'
import { main } from '../src/cli/main.ts'

test('run retries while there is no API server, says so once with the remedy, and stops on Ctrl-C', async () => {
  const ports = ['--health-port=0', '--webhook-port=0']
  const { code, problems, stderr, server } = await runWithoutServer(
    main,
    ['run', '--leader-elect', '--webhook', '--log-level=debug', ...ports],
    // Informers and the election have failed several times by then.
    { interruptOn: /could not check the certificates/ },
  )
  expect(code).toBe(0)
  // A minute later it would be said again.
  expect([...new Set(problems)]).toEqual([
    `cannot reach the API server ${server} (connect ECONNREFUSED 127.0.0.1:9); retrying. ` +
      'Check the address and whether the server runs',
  ])
  expect(stderr).not.toContain('hunter22')
})
