/** CustomResourceDefinitions for suites that run on both clusters, each in its own group. */
import { randomBytes } from 'node:crypto'
import type { ClusterUnderTest } from '@reeve/cluster-under-test'
import type { JsonObject } from '../../src/index.ts'
import { eventually } from './eventually.ts'

/** The path of definitions. */
export const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

/** Overrides of a valid definition. */
export interface DefinitionParts {
  readonly plural?: string
  readonly names?: JsonObject
  readonly spec?: JsonObject
  readonly version?: JsonObject
  readonly metadata?: JsonObject
}

/** A group no other test uses. */
export function uniqueGroup(): string {
  return `g${randomBytes(4).toString('hex')}.example.com`
}

/** A definition of the kind Widget with one version. */
export function definition(group: string, parts: DefinitionParts = {}): JsonObject {
  const { plural = 'widgets' } = parts
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, ...parts.metadata },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, kind: 'Widget', ...parts.names },
      versions: [version('v1', { storage: true, ...parts.version })],
      ...parts.spec,
    },
  }
}

/** One served version with a small schema. */
export function version(name: string, parts: JsonObject = {}): JsonObject {
  return { name, served: true, storage: false, schema: schema({}), ...parts }
}

/** A schema whose `spec` has these properties besides `a`; `status` accepts anything. */
export function schema(properties: JsonObject): JsonObject {
  return {
    openAPIV3Schema: {
      type: 'object',
      properties: {
        spec: { type: 'object', properties: { a: { type: 'string' }, ...properties } },
        status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
  }
}

/**
 * Deletes the definition of a group, with all its objects, when it goes out of scope. A conversion webhook must outlive
 * that: objects that cannot be read block the deletion of every namespace.
 */
export function deletedOnDispose(cluster: ClusterUnderTest, group: string): AsyncDisposable {
  return {
    async [Symbol.asyncDispose]() {
      const path = `${DEFINITIONS}/widgets.${group}`
      await cluster.raw.send({ method: 'DELETE', path })
      await eventually(`${path} is deleted`, async () => (await cluster.raw.send({ path })).status === 404)
    },
  }
}

/** Stores a definition and waits until its resource is served. */
export async function establish(
  cluster: ClusterUnderTest,
  group: string,
  parts: DefinitionParts = {},
): Promise<string> {
  const body = definition(group, parts)
  const created = await cluster.raw.send({ method: 'POST', path: DEFINITIONS, body })
  if (created.status !== 201) throw new Error(`definition rejected: ${created.text}`)
  const path = `${DEFINITIONS}/${parts.plural ?? 'widgets'}.${group}`
  cluster.removeAtClose(path)
  await eventually(`${path} is established`, async () => {
    const { status } = (await cluster.raw.send({ path })).json<{ status?: { conditions?: JsonObject[] | null } }>()
    return (status?.conditions ?? []).some(({ type, status: is }) => type === 'Established' && is === 'True')
  })
  // A real server needs a moment until every path of the resource is served.
  await eventually(`the resources of ${group} are served`, async () => {
    const { status } = await cluster.raw.send({ path: `/apis/${group}/v1/widgets?limit=1` })
    return status === 200
  })
  return path
}
