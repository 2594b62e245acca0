import { SimulatedClock } from '@reeve/http/testing'
import { type Deployment, Deployments, type KubeObject, type Stored } from '@reeve/kube'
import type { ReconcileSummary } from '@reeve/runtime'
import { expect, it } from 'vitest'
import type { WebApp } from './api/webapp.ts'
import { report } from './report.ts'

const metadata = { name: 'shop', namespace: 'default', uid: '1', generation: 1, resourceVersion: '1' }
const webapp = { apiVersion: 'example.com/v1', kind: 'WebApp', metadata, spec: { image: 'nginx', replicas: 2 } }
const written = { apiVersion: 'apps/v1', kind: 'Deployment', metadata } as Stored<KubeObject>
const rolledOut = { ...written, status: { observedGeneration: 1, replicas: 2, updatedReplicas: 2 } }

/** What is reported after a reconcile with these writes, when the cache already shows the work of others. */
function phaseAfter(changes: ReconcileSummary<WebApp>['changes']): string | undefined {
  const cache = { get: () => rolledOut as Deployment }
  const key = { namespace: 'default', name: 'shop' }
  const summary = { primary: webapp, cache, clock: new SimulatedClock(), key, changes, failure: undefined }
  // A report uses nothing else.
  return report(summary as unknown as ReconcileSummary<WebApp>).status?.phase
}

it('a WebApp that was just written is Reconciling, however fast others are', () => {
  expect(phaseAfter([{ type: 'created', resource: Deployments, object: written, differences: [] }])).toBe('Reconciling')
  expect(phaseAfter([])).toBe('WaitingForPods')
})
