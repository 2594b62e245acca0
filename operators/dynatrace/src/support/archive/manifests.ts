/** Objects of the operator, as YAML. Secrets are never among them. */
import {
  ConfigMaps,
  CustomResourceDefinitions,
  DaemonSets,
  Deployments,
  Events,
  Jobs,
  type KubeObject,
  MutatingWebhookConfigurations,
  Namespaces,
  Pods,
  ReplicaSets,
  type Resource,
  Services,
  StatefulSets,
  ValidatingWebhookConfigurations,
} from '@reeve/kube'
import { stringify } from 'yaml'
import { DynaKubeCrd } from '../../api/dynakube/dynakube-crd.ts'
import { EdgeConnectCrd } from '../../api/edgeconnect/edgeconnect-crd.ts'
import { DynaKubes, EdgeConnects } from '../../api/latest.ts'
import { INSTANCE_LABEL } from '../../controllers/dynakube/components/injection/map-namespaces.ts'
import { WEBHOOK_NAME } from '../../installed-names.ts'
import { type ArchiveContext, type Collector, REQUEST_TIMEOUT_MS } from './context.ts'
import { redactObject } from './redaction.ts'

interface ObjectQuery {
  readonly resource: Resource
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
  readonly limit?: number
  readonly pathOf: (name: string) => string
}

const WORKLOADS: readonly Resource[] = [Deployments, StatefulSets, DaemonSets, ReplicaSets, Jobs, Services, Pods]

/** `manifests/...`. */
export const manifests: Collector = {
  name: 'Kubernetes objects',
  async collect(context) {
    let found = 0
    for (const query of queriesOf(context)) {
      try {
        found += await collectQuery(context, query)
      } catch (error) {
        context.signal.throwIfAborted()
        context.console.failed(`${query.resource.kind} objects`, error)
      }
    }
    if (found > 0) await collectClusterObjects(context)
  },
}

function queriesOf({ namespace, appName, numEvents }: ArchiveContext): readonly ObjectQuery[] {
  const inNamespace = (resource: Resource, more: Partial<ObjectQuery> = {}): ObjectQuery => ({
    resource,
    namespace,
    pathOf: (name) => `manifests/${namespace}/${resource.kind.toLowerCase()}/${name}.yaml`,
    ...more,
  })
  return [
    {
      resource: Namespaces,
      labelSelector: INSTANCE_LABEL,
      pathOf: (name) => `manifests/injected_namespaces/namespace-${name}.yaml`,
    },
    {
      resource: Namespaces,
      fieldSelector: `metadata.name=${namespace}`,
      pathOf: (name) => `manifests/${namespace}/namespace-${name}.yaml`,
    },
    ...['name', 'managed-by'].flatMap((label) =>
      WORKLOADS.map((resource) => inNamespace(resource, { labelSelector: `app.kubernetes.io/${label}=${appName}` })),
    ),
    inNamespace(DynaKubes),
    inNamespace(EdgeConnects),
    inNamespace(ConfigMaps),
    inNamespace(Events, { fieldSelector: 'type=Warning', limit: numEvents }),
  ]
}

async function collectQuery(context: ArchiveContext, query: ObjectQuery): Promise<number> {
  const { resource, pathOf, limit, ...selection } = query
  const { client, signal } = context
  const request = { ...selection, signal, timeoutMs: REQUEST_TIMEOUT_MS }
  // Page by page: all ConfigMaps of a namespace at once may be large.
  let page = await client.list(resource, { ...request, limit: limit ?? 100 })
  let count = 0
  for (;;) {
    for (const object of page.items) await addObject(context, pathOf(object.metadata.name), object)
    count += page.items.length
    const next = page.metadata.continue
    if (limit !== undefined || !next) return count
    page = await client.list(resource, { ...request, limit: 100, continue: next })
  }
}

async function collectClusterObjects(context: ArchiveContext): Promise<void> {
  const named = [
    [MutatingWebhookConfigurations, WEBHOOK_NAME, 'webhook_configurations/mutatingwebhookconfiguration'],
    [ValidatingWebhookConfigurations, WEBHOOK_NAME, 'webhook_configurations/validatingwebhookconfiguration'],
    [CustomResourceDefinitions, DynaKubeCrd.name, `crds/customresourcedefinition-${DynaKubeCrd.plural}`],
    [CustomResourceDefinitions, EdgeConnectCrd.name, `crds/customresourcedefinition-${EdgeConnectCrd.plural}`],
  ] as const
  const { client, console, signal } = context
  for (const [resource, name, path] of named) {
    try {
      // Kinds of different types; only what all objects have is used.
      const object = await client.get(resource as Resource, { name }, { signal, timeoutMs: REQUEST_TIMEOUT_MS })
      await addObject(context, `manifests/${path}.yaml`, object)
    } catch (error) {
      signal.throwIfAborted()
      console.failed(`manifests/${path}.yaml`, error)
    }
  }
}

/** Below `Object`, where readers of existing archives expect it. */
async function addObject({ zip, console, redact }: ArchiveContext, path: string, object: KubeObject): Promise<void> {
  const text = stringify({ Object: redactObject(object, redact) }, { aliasDuplicateObjects: false, lineWidth: 0 })
  await zip.add(path, [text])
  console.note(`collected ${path}`)
}
