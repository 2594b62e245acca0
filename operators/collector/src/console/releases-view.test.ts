import type { Release } from '@reeve/helm'
import type { ViewSource } from '@reeve/runtime/operator'
import { expect, it } from 'vitest'
import type { Collector } from '../api/collector.ts'
import { ObservedReleases, releasesView } from './releases-view.ts'

const collector = {
  apiVersion: 'example.com/v1alpha',
  kind: 'Collector',
  metadata: { namespace: 'default', name: 'acme-logs' },
  spec: { tenant: { reference: 'ACME' } },
  status: { phase: 'Available', chart: 'logs-1.1.0', revision: 2, releaseName: 'logs', namespace: 'acme' },
} as unknown as Collector // only what the view reads

const revision = (number: number, status: Release['status']): Release => ({
  namespace: 'acme',
  name: 'logs',
  revision: number,
  status,
  chart: { name: 'logs', version: `1.${number - 1}.0` },
  values: { password: 'hunter2-planted' },
  manifest: 'password: hunter2-planted',
  hooks: [],
  description: '',
  labels: {},
  lastDeployed: `2026-01-0${number}T00:00:00Z`,
})

// Only the cache is read.
const source = { cache: { list: () => [collector] } } as unknown as ViewSource

it('the view of releases shows releases, manual changes and history as the last reconcile observed them, without values', async () => {
  const observed = new ObservedReleases()
  const view = releasesView(observed)
  const [releases, drift, history] = await view.read(source)
  expect(releases).toMatchObject({
    rows: [['default/acme-logs', 'ACME', { text: 'Available', tone: 'good' }, 'acme/logs', 'logs-1.1.0', '2', {}]],
  })
  expect(drift).toMatchObject({ rows: [] })
  expect(history).toMatchObject({ rows: [] })

  observed.note(
    { namespace: 'default', name: 'acme-logs' },
    { namespace: 'acme', name: 'logs' },
    {
      records: 'read',
      isOwned: true,
      history: [revision(1, 'superseded'), revision(2, 'deployed')],
      workloads: {
        health: 'progressing',
        notes: ['Deployment web: 1 of 2'],
        missing: ['Service web'],
        changed: ['ConfigMap web (data.a)'],
      },
    },
  )
  const sections = await view.read(source)
  expect(sections[1]).toMatchObject({
    rows: [
      ['default/acme-logs', 'Service web', { text: 'deleted', tone: 'bad' }],
      ['default/acme-logs', 'ConfigMap web (data.a)', { text: 'changed', tone: 'warning' }],
    ],
  })
  expect(sections[2]).toMatchObject({
    rows: [
      ['acme/logs', '2', { text: 'deployed', tone: 'good' }, 'logs-1.1.0', '2026-01-02T00:00:00Z'],
      ['acme/logs', '1', { text: 'superseded', tone: 'neutral' }, 'logs-1.0.0', '2026-01-01T00:00:00Z'],
    ],
  })
  expect(JSON.stringify(sections)).not.toContain('planted')
})

it('the view of releases forgets the releases that were observed longest ago', () => {
  const observed = new ObservedReleases()
  const nothing = {
    records: 'read',
    isOwned: false,
    history: [],
    workloads: { health: 'ready', notes: [], missing: [], changed: [] },
  } as const
  for (let index = 0; index <= 1_000; index++) {
    observed.note({ namespace: 'default', name: `c-${index}` }, { namespace: 'acme', name: 'logs' }, nothing)
  }
  expect(observed.of({ namespace: 'default', name: 'c-0' })).toBeUndefined()
  expect(observed.of({ namespace: 'default', name: 'c-1000' })).toBeDefined()
})
