/** Istio's kinds, as far as the operator knows them. */
import {
  type CustomResourceDefinition,
  CustomResourceDefinitions,
  isAlreadyExists,
  isNotFound,
  type KubeClient,
} from '@reeve/kube'
import { ISTIO_KINDS } from '../../../src/controllers/dynakube/components/istio/resources.ts'
import { until } from '../../support/until.ts'

const nameOf = ({ plural, group }: (typeof ISTIO_KINDS)[number]): string => `${plural}.${group}`

/** A CRD that keeps everything in its spec, and checks common mistakes. */
function definition(kind: (typeof ISTIO_KINDS)[number]): CustomResourceDefinition {
  const hosts = { type: 'array', items: { type: 'string' } }
  const spec = {
    type: 'object',
    'x-kubernetes-preserve-unknown-fields': true,
    required: ['hosts'],
    properties: { hosts },
  }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: nameOf(kind) },
    spec: {
      group: kind.group,
      scope: 'Namespaced',
      names: { kind: kind.kind, plural: kind.plural, singular: kind.kind.toLowerCase(), listKind: `${kind.kind}List` },
      versions: [
        {
          name: kind.version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
        },
      ],
    },
  }
}

/** Installs Istio's kinds unless they exist. */
export async function installIstio(client: KubeClient): Promise<void> {
  for (const kind of ISTIO_KINDS) {
    await client.create(CustomResourceDefinitions, definition(kind)).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error
    })
    await until(`${kind.plural} to be served`, async () => {
      const { status } = await client.get(CustomResourceDefinitions, { name: nameOf(kind) })
      return status?.conditions?.some(({ type, status: is }) => type === 'Established' && is === 'True') ?? false
    })
  }
}

/** Removes Istio's kinds with all objects. */
export async function uninstallIstio(client: KubeClient): Promise<void> {
  for (const kind of ISTIO_KINDS) {
    await client.delete(CustomResourceDefinitions, { name: nameOf(kind) }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error
    })
  }
}
