/** Builders of WebApps and of what is observed of them, for tests. */
import { applyDefaults, objectSchema } from '@reeve/crd'
import type { Deployment, ObjectMeta } from '@reeve/kube'
import { type Phase, type WebApp, WebAppCrd, type WebAppSpec } from '../api/webapp.ts'

/** A WebApp as the server would return it: defaults filled in. */
export function webapp(
  spec: Partial<WebAppSpec>,
  { phase, ...metadata }: ObjectMeta & { readonly phase?: Phase } = {},
): WebApp {
  const object = {
    apiVersion: 'example.com/v1',
    kind: 'WebApp',
    metadata: { name: 'shop', namespace: 'default', uid: 'uid-shop', generation: 1, ...metadata },
    spec: { image: 'nginx:1.29', ...spec },
    ...(phase && { status: { phase } }),
  }
  // The schema fills in every field that the type requires.
  return applyDefaults(objectSchema(WebAppCrd, 'v1'), object) as WebApp
}

/** A WebApp as a user writes it: defaults are left to the server. */
export function written(name: string, spec: Partial<WebAppSpec> = {}, metadata: ObjectMeta = {}): WebApp {
  return {
    apiVersion: 'example.com/v1',
    kind: 'WebApp',
    metadata: { name, namespace: 'default', ...metadata },
    // What is left out has a default in the schema.
    spec: { image: 'nginx:1.29', replicas: 2, ...spec } as WebAppSpec,
  }
}

/** The Deployment of a WebApp with the given numbers in its status; without replicas, it was just created. */
export function deployment(
  replicas: number | undefined,
  numbers: {
    readonly updated?: number
    readonly available?: number
    readonly observed?: number
    readonly stuck?: boolean
  } = {},
): Deployment {
  const { updated, available = 0, observed = 1, stuck = false } = numbers
  const object = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'shop', namespace: 'default', generation: 1 },
  }
  if (replicas === undefined) return object
  return {
    ...object,
    status: {
      observedGeneration: observed,
      replicas,
      updatedReplicas: updated ?? replicas,
      availableReplicas: available,
      conditions: [
        { type: 'Available', status: available > 0 ? 'True' : 'False' },
        ...(stuck
          ? [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded', message: 'too slow' } as const]
          : []),
      ],
    },
  }
}
