/** A fault that a user meets, and ways to plant one. */
import { Deployments, type KubeObject, type ObjectKey, type Resource, type UnknownObject } from '@reeve/kube'
import { type DynaKubeSpec, DynaKubes } from '../../../../src/index.ts'
import type { Finding } from '../../../../src/support/troubleshoot/finding.ts'
import { until } from '../../../support/until.ts'
import { type HealthyStage, NAMESPACE, TENANT } from '../healthy-stage.ts'

/** A fault. */
export interface PlantedFault {
  /** What is wrong, as a sentence. */
  readonly name: string
  /** Plants the fault; the returned function removes it. */
  readonly plant: (stage: HealthyStage) => Promise<() => Promise<void> | void>
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly check: Finding['check']
  readonly message: RegExp
  readonly remedy: RegExp
  /** @default 'error' */
  readonly status?: Finding['status']
}

/** For faults of the command line or the process environment. */
export const nothing = async () => () => undefined
/** Of an object in the namespace of the operator. */
export const key = (name: string) => ({ namespace: NAMESPACE, name })

/** Deletes an object, and creates it again as it was. */
export const without =
  <T extends KubeObject>(resource: Resource<T>, target: ObjectKey) =>
  async ({ client, apply }: HealthyStage) => {
    const { metadata, ...rest } = await client.get(resource, target)
    await client.delete(resource, target, { propagationPolicy: 'Background' })
    const { name, namespace, labels, annotations } = metadata
    const kept = { ...(namespace && { namespace }), ...(labels && { labels }), ...(annotations && { annotations }) }
    // A stored object, without what the server fills in.
    const { status: _status, ...object } = rest as unknown as UnknownObject & { status?: unknown }
    return () => apply({ ...object, metadata: { name, ...kept } } as UnknownObject)
  }

/** Replaces an object, and puts the one before in its place again. */
export const instead =
  (object: UnknownObject) =>
  async ({ client }: HealthyStage) => {
    const resource = await client.resourceFor(object)
    const { name = '', namespace } = object.metadata
    const target = { name, ...(namespace && { namespace }) }
    const before = await client.get(resource, target)
    const replace = async (next: UnknownObject) => {
      const { resourceVersion } = (await client.get(resource, target)).metadata
      await client.update(resource, { ...next, metadata: { ...next.metadata, resourceVersion } })
    }
    await replace(object)
    return () => replace(before)
  }

/** Scales a Deployment to zero, and back. */
export async function scaled(name: string, { client }: HealthyStage) {
  const scale = async (replicas: number) => {
    await client.patch(Deployments, key(name), { type: 'merge', patch: { spec: { replicas } } })
    await until('the scale', async () => {
      const { status } = await client.get(Deployments, key(name))
      return (status?.readyReplicas ?? 0) === replicas
    })
  }
  await scale(0)
  return () => scale(1)
}

/** A second DynaKube of the same tenant. */
export async function addDynaKube({ client, simulator }: HealthyStage, spec: Partial<DynaKubeSpec>) {
  await client.create(DynaKubes, {
    apiVersion: 'dynatrace.com/v1beta6',
    kind: 'DynaKube',
    metadata: { namespace: NAMESPACE, name: 'second' },
    spec: { apiUrl: simulator.url(TENANT), tokens: TENANT, trustedCAs: 'tenant', ...spec },
  })
  return async () => void (await client.delete(DynaKubes, key('second')))
}
