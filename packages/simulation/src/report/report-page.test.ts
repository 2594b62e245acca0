import { reportPage } from '@reeve/console/report'
import { expect, it } from 'vitest'
import type { Divergence, ExplorationReport } from './exploration-report.ts'
import { reportData } from './report-page.ts'

const divergence: Divergence = {
  pattern: 'crash-after-write',
  point: 7,
  seed: 3,
  label: 'killed after request 9',
  shape: { coarse: 'create services', fine: 'default/shop' },
  problems: [{ kind: 'state-differs', message: 'the runs differ </script><script>alert(1)</script>' }],
  message: 'the runs differ',
  trace: [{ atMs: 1_500, instance: 1, kind: 'fault', text: 'killed' }],
  differences: [{ object: 'services default/shop', field: '', undisturbed: 'exists', disturbed: undefined }],
  endStates: [{ object: 'services default/shop', undisturbed: { kind: 'Service' }, disturbed: undefined }],
}

const report: ExplorationReport = {
  operator: 'webapp',
  scenario: 'life',
  seed: 3,
  runs: 1,
  patterns: [],
  divergences: [divergence],
}

it('the page of a report has the trace, both end states and the command that replays a divergence', () => {
  const { explorations } = reportData([{ report, replay: { samples: 5 } }], { generatedMs: 0, durationMs: 1 })
  expect(explorations[0]?.divergences[0]).toMatchObject({
    label: 'killed after request 9',
    trace: [{ kind: 'fault' }],
    endStates: [{ object: 'services default/shop', undisturbed: '{\n  "kind": "Service"\n}' }],
    replay: 'npm run explore -- --operator webapp --pattern crash-after-write --point 7 --seed 3 --samples 5',
  })
})

it('the page of a report has the steps that a divergence of a process needs, what was seen once, and no seed', () => {
  const steps = ['create']
  const unconfirmed = [{ pattern: 'relist', label: 'event 3', message: 'the runs differ', isCutOff: false }] as const
  const process = { ...report, divergences: [{ ...divergence, steps }], unconfirmed }
  const replay = { process: 'reeve explore --scenario a.yaml' }
  const { explorations } = reportData([{ report: process, replay }], { generatedMs: 0, durationMs: 1 })
  expect(explorations[0]).toMatchObject({ divergences: [{ steps }], unconfirmed })
  expect(explorations[0]).not.toHaveProperty('seed')
})

it('the page of a report is one page in which no text of a run can become a script', { timeout: 120_000 }, async () => {
  const html = await reportPage(reportData([{ report, replay: {} }], { generatedMs: 0, durationMs: 1 }))
  expect(html).not.toContain('<script>alert')
  expect(html.match(/<script/g)).toHaveLength(2)
  const [, json = ''] = /<script type="application\/json" id="report">(.*?)<\/script>/s.exec(html) ?? []
  expect(JSON.parse(json).explorations[0].divergences[0].problems[0].message).toContain('</script>')
})
