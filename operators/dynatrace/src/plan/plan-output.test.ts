import { SENSITIVE } from '@reeve/plan'
import { describe, expect, it } from 'vitest'
import type { Plan } from './plan.ts'
import { formatText } from './plan-output.ts'

const OWNER = 'DynaKube dynatrace/dynakube'

const PLAN: Plan = {
  resources: [{ kind: 'DynaKube', namespace: 'dynatrace', name: 'dynakube', versions: { OneAgent: '1.321.57' } }],
  changes: [
    {
      action: 'create',
      owner: OWNER,
      component: 'OneAgent',
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      namespace: 'dynatrace',
      name: 'dynakube-oneagent',
      fields: [],
      manifest: { kind: 'DaemonSet', spec: { selector: {}, ports: [{ port: 1, name: 'a' }], args: ['--a'] } },
    },
    {
      action: 'change',
      owner: OWNER,
      component: 'OneAgent',
      apiVersion: 'v1',
      kind: 'Secret',
      namespace: 'dynatrace',
      name: 'tokens',
      fields: [
        { path: 'data.apiToken', before: SENSITIVE, after: SENSITIVE },
        { path: 'metadata.labels.a', after: 'x'.repeat(200) },
        { path: 'type', before: 'Opaque' },
        { path: 'immutable', before: false, after: true },
      ],
    },
    { action: 'remove', component: 'injection', apiVersion: 'v1', kind: 'Namespace', name: 'shop', fields: [] },
  ],
  tenant: [{ action: 'create', what: 'setting x', tenant: 'abc.example.com' }],
  unchanged: 1,
  findings: [
    { severity: 'warning', message: 'careful', file: 'a.yaml', line: 3, column: 5, object: OWNER, rule: 'W-AG-MEM' },
  ],
}

describe('a plan as text', () => {
  it('has findings, objects by component, the tenant and a summary', () => {
    expect(formatText(PLAN).split('\n')).toEqual([
      `a.yaml:3:5: warning: ${OWNER}: careful [W-AG-MEM]`,
      '',
      `${OWNER} (OneAgent 1.321.57)`,
      '  OneAgent',
      '    + DaemonSet  dynatrace/dynakube-oneagent',
      '    ~ Secret     dynatrace/tokens',
      '        ~ data.apiToken: (sensitive) differs',
      `        + metadata.labels.a: "${'x'.repeat(99)}…`,
      '        - type: "Opaque"',
      '        ~ immutable: false → true',
      '',
      'other objects',
      '  injection',
      '    - Namespace  shop',
      '',
      'in the tenant',
      '    + setting x  (abc.example.com)',
      '',
      'Plan: 1 to create, 1 to change, 1 to remove, 1 in the tenant. 1 is unchanged.',
      '',
    ])
  })

  it('shows whole objects when requested', () => {
    expect(formatText(PLAN, { isFull: true })).toContain(
      [
        '        kind: "DaemonSet"',
        '        spec:',
        '          selector: {}',
        '          ports:',
        '          - port: 1',
        '            name: "a"',
        '          args:',
        '          - "--a"',
      ].join('\n'),
    )
  })

  it('is coloured only when requested', () => {
    const code = String.fromCharCode(27)
    expect(formatText(PLAN)).not.toContain(code)
    expect(formatText(PLAN, { isColoured: true })).toContain(`${code}[32m+`)
  })

  it('says that there is nothing to do', () => {
    const nothing = { ...PLAN, changes: [], tenant: [], findings: [], unchanged: 23 }
    expect(formatText(nothing)).toBe('No changes. 23 are unchanged.\n')
  })

  it('does not pretend to be complete after an error', () => {
    const findings = [{ severity: 'error', message: 'broken' }] as const
    expect(formatText({ ...PLAN, findings })).toContain('\nIncomplete plan: 1 to create')
    const nothing = { ...PLAN, changes: [], tenant: [], findings, unchanged: 0 }
    expect(formatText(nothing)).toBe('error: broken\n\nNo plan: there are errors.\n')
  })
})
