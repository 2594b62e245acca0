/** The WebApp operator, explored like one in another language: its webhooks are called, and it competes for a lease. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../..', import.meta.url))

it('the WebApp operator as a process survives crashes and lost leases, and its webhook defaults what users apply', async () => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [
      ...['packages/cli/bin/reeve.js', 'explore', '--scenario', 'operators/webapp/exploration/process/scenario.yaml'],
      ...['--pattern', 'undisturbed,crash-after-write,lost-leadership', '--budget', '5m', '--output', 'json'],
    ],
    { cwd: root, maxBuffer: 64 * 1024 * 1024 },
  )
  const [report] = JSON.parse(stdout).reports
  expect(report.divergences).toEqual([])
  for (const { explored, missed } of report.patterns) expect(explored).toBeGreaterThan(missed)
})
