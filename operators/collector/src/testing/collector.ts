/** Builders of Collectors, for tests. */
import { applyDefaults, objectSchema } from '@reeve/crd'
import type { ObjectMeta } from '@reeve/kube'
import { type Collector, CollectorCrd, type CollectorSpec, type CollectorStatus } from '../api/collector.ts'

/** What a test may change; the rest is that of a small, valid Collector. */
export interface CollectorParts {
  readonly collector?: Partial<CollectorSpec['collector']>
  readonly tenant?: Partial<CollectorSpec['tenant']>
  readonly spec?: Partial<Omit<CollectorSpec, 'collector' | 'tenant'>>
  readonly metadata?: ObjectMeta
  readonly status?: CollectorStatus
}

/** A Collector as the server would return it: defaults filled in. */
export function collectorOf({ collector, tenant, spec, metadata, status }: CollectorParts = {}): Collector {
  const object = {
    apiVersion: 'example.com/v1alpha',
    kind: 'Collector',
    metadata: { name: 'metrics', namespace: 'default', uid: 'uid-metrics', generation: 1, ...metadata },
    spec: {
      collector: { name: 'metrics', ...collector },
      tenant: { id: '42', reference: 'ACME', instance: 'eu1', ...tenant },
      cluster: 'development',
      ...spec,
    },
    ...(status && { status }),
  }
  // The schema fills in every field that the type requires.
  return applyDefaults(objectSchema(CollectorCrd, 'v1alpha'), object) as Collector
}

/** A configuration as a user writes it. */
export function configuration(yaml: string): string {
  return Buffer.from(yaml).toString('base64')
}
