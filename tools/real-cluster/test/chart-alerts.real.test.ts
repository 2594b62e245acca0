/** Alerts and dashboards of all charts, checked and tested by the real promtool. */
import { spawnSync } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { ALERT_CASES, type AlertCase } from './support/alert-cases.ts'

const promtool = process.env.REEVE_PROMTOOL
const reason = promtool === undefined ? ' (skipped: promtool was not built)' : ''
const OPERATORS = ['webapp', 'collector', 'dynatrace']
const chartOf = (operator: string) => fileURLToPath(new URL(`../../../operators/${operator}/chart`, import.meta.url))

interface Alerts {
  readonly groups: readonly { readonly rules: readonly Rule[] }[]
}
interface Rule {
  readonly alert: string
  readonly labels: object
  readonly annotations: object
}
interface Dashboard {
  readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[]
}

function run(...args: string[]): { readonly code: number | null; readonly output: string } {
  const { status, stdout, stderr, error } = spawnSync(promtool ?? '', args, { encoding: 'utf8' })
  if (error) throw error
  return { code: status, output: stdout + stderr }
}

/** A test of promtool from a case. */
function unitTest({ alert, labels, annotations }: Rule, tested: AlertCase | undefined): readonly object[] {
  if (tested === undefined) return []
  const firing = { exp_labels: { ...labels, ...tested.labels }, exp_annotations: annotations }
  return [
    {
      name: alert,
      interval: '1m',
      input_series: Object.entries(tested.series).map(([series, values]) => ({ series, values })),
      alert_rule_test: [
        { eval_time: tested.firesAt, alertname: alert, exp_alerts: [firing] },
        { eval_time: tested.isQuietAt, alertname: alert, exp_alerts: [] },
      ],
    },
  ]
}

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-rules-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** promtool checks rules only, so each expression becomes one. */
async function checkExpressions(expressions: readonly string[]) {
  const rules = expressions.map((expr, index) => ({ record: `panel_${index}`, expr }))
  const file = join(folder, 'panels.yaml')
  await writeFile(file, stringify({ groups: [{ name: 'panels', rules }] }))
  return run('check', 'rules', file)
}

describe.skipIf(promtool === undefined)(`promtool${reason}`, () => {
  it.each(OPERATORS)('finds nothing wrong with the alerts of %s', (operator) => {
    const { code, output } = run(
      'check',
      'rules',
      '--lint=all',
      '--lint-fatal',
      `${chartOf(operator)}/alerts/alerts.yaml`,
    )
    expect(output).toMatch(/SUCCESS: [4-9] rules found/)
    expect(code).toBe(0)
  })

  it.each(OPERATORS)('sees every alert of %s fire when it should, and only then', async (operator) => {
    const file = `${chartOf(operator)}/alerts/alerts.yaml`
    const { groups }: Alerts = parse(await readFile(file, 'utf8'))
    const rules = groups.flatMap((group) => group.rules)
    const cases = ALERT_CASES[operator] ?? []
    expect(cases.map(({ alert }) => alert)).toEqual(rules.map(({ alert }) => alert))
    const tests = rules.flatMap((rule, index) => unitTest(rule, cases[index]))
    const written = join(folder, `${operator}.yaml`)
    await writeFile(written, stringify({ rule_files: [file], evaluation_interval: '1m', tests }))
    const { code, output } = run('test', 'rules', written)
    expect(output).toContain('SUCCESS')
    expect(code).toBe(0)
  })

  it.each(OPERATORS)('accepts the expressions in the dashboards of %s', async (operator) => {
    const files = await readdir(`${chartOf(operator)}/dashboards`)
    const texts = await Promise.all(files.map((file) => readFile(`${chartOf(operator)}/dashboards/${file}`, 'utf8')))
    const targets = texts.flatMap((text) => (JSON.parse(text) as Dashboard).panels.flatMap((panel) => panel.targets))
    expect(targets.length).toBeGreaterThan(5)
    expect(await checkExpressions(targets.map(({ expr }) => expr))).toMatchObject({ code: 0 })
  })

  it('rejects an expression that is not valid', async () => {
    const { code, output } = await checkExpressions(['sum(rate(requests_total[5m]))', 'sum(rate(requests_total)'])
    expect(code).toBe(1)
    expect(output).toContain('unclosed left parenthesis')
  })
})
