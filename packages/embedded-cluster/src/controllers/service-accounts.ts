/** Creates the default ServiceAccount and the ConfigMap with the cluster's root certificate in every namespace. */
import type { ControllerContext } from './context.ts'
import { isAlreadyExists } from './control-loop.ts'
import { Controller, type EventHandler } from './controller.ts'
import type { ConfigMap, Namespace, ServiceAccount } from './kinds/cluster.ts'
import { isTerminating, namespaceOf } from './kinds/meta.ts'
import { asObject, ResourceClient } from './resource-client.ts'
import type { SimulatorController } from './simulator-controller.ts'

const ACCOUNT = 'default'
const CERTIFICATE = 'kube-root-ca.crt'

/** Keys are names of namespaces. `rootCertificate` is PEM. */
export function createServiceAccountController(
  context: ControllerContext,
  rootCertificate: string,
): SimulatorController {
  const namespaces = new ResourceClient<Namespace>(context.api, 'namespaces')
  const accounts = new ResourceClient<ServiceAccount>(context.api, 'serviceaccounts')
  const configMaps = new ResourceClient<ConfigMap>(context.api, 'configmaps')

  async function ensureAccount(namespace: string): Promise<void> {
    if (accounts.get(namespace, ACCOUNT) !== undefined) return
    const metadata = { name: ACCOUNT, namespace }
    await ignoringExisting(accounts.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata }))
  }

  async function ensureCertificate(namespace: string): Promise<void> {
    const data = { 'ca.crt': rootCertificate }
    const existing = configMaps.get(namespace, CERTIFICATE)
    if (existing === undefined) {
      const annotations = {
        'kubernetes.io/description':
          'The certificate authority of this cluster, for clients that talk to its API server.',
      }
      const metadata = { name: CERTIFICATE, namespace, annotations }
      await ignoringExisting(configMaps.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data }))
    } else if (existing.data?.['ca.crt'] !== rootCertificate && !isTerminating(existing)) {
      await configMaps.update({ ...existing, data })
    }
  }

  const onNamed =
    (name: string): EventHandler =>
    (event, enqueue) => {
      const object = asObject(event.object)
      if (object.metadata.name === name && event.type !== 'ADDED') enqueue(namespaceOf(object))
    }

  return new Controller(context, {
    name: 'service-accounts',
    watches: {
      namespaces: (event, enqueue) => {
        if (event.type === 'ADDED') enqueue(asObject(event.object).metadata.name)
      },
      serviceaccounts: onNamed(ACCOUNT),
      configmaps: onNamed(CERTIFICATE),
    },
    async reconcile(key) {
      const namespace = namespaces.get('', key)
      if (namespace === undefined || isTerminating(namespace)) return undefined
      await ensureAccount(key)
      await ensureCertificate(key)
      return undefined
    },
  })
}

async function ignoringExisting(creation: Promise<unknown>): Promise<void> {
  try {
    await creation
  } catch (error) {
    // Another client created it first, as intended.
    if (!isAlreadyExists(error)) throw error
  }
}
