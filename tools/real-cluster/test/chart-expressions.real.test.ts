/** The parser of Prometheus accepts the expressions in alerts and dashboards of all charts. */
import { spawnSync } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'

const program = process.env.REEVE_PROMQL_CHECK
const reason = program === undefined ? ' (skipped: the parser of Prometheus was not built)' : ''

interface Alerts {
  readonly groups: readonly { readonly rules: readonly { readonly expr: string }[] }[]
}
interface Dashboard {
  readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[]
}

/** What the parser rejects; empty when it accepts everything. */
function rejected(expressions: readonly string[]): string {
  // One expression per line.
  const input = expressions.map((expression) => expression.replaceAll(/\s+/g, ' ')).join('\n')
  const { status, stdout, error } = spawnSync(program ?? '', { input, encoding: 'utf8' })
  if (error) throw error
  expect(status).toBe(stdout === '' ? 0 : 1)
  return stdout
}

describe.skipIf(program === undefined)(`expressions of charts${reason}`, () => {
  it.each(['webapp', 'collector', 'dynatrace'])('are accepted in alerts and panels of %s', async (operator) => {
    const chart = fileURLToPath(new URL(`../../../operators/${operator}/chart`, import.meta.url))
    const { groups }: Alerts = parse(await readFile(`${chart}/alerts/alerts.yaml`, 'utf8'))
    const alerts = groups.flatMap(({ rules }) => rules)
    const files = await readdir(`${chart}/dashboards`)
    const texts = await Promise.all(files.map((file) => readFile(`${chart}/dashboards/${file}`, 'utf8')))
    const dashboards = texts.map((text): Dashboard => JSON.parse(text))
    const targets = dashboards.flatMap(({ panels }) => panels.flatMap((panel) => panel.targets))
    expect(alerts.length).toBeGreaterThan(3)
    expect(targets.length).toBeGreaterThan(5)
    expect(rejected([...alerts, ...targets].map(({ expr }) => expr))).toBe('')
  })

  it('are rejected when they are not valid', () => {
    expect(rejected(['sum(rate(requests_total[5m]))', 'sum(rate(requests_total)'])).toContain(
      'unclosed left parenthesis',
    )
  })
})
