/** Rejects new objects in namespaces that do not exist or are terminating, and the deletion of system namespaces. */

import type { AdmissionAttributes, AdmissionPlugin } from '../api/admission-plugin.ts'
import { forbidden, notFound } from '../api/api-errors.ts'
import type { ClusterApi } from '../api/cluster-api.ts'
import { objectAt, stringAt } from '../json.ts'

const immortal = new Set(['default', 'kube-system', 'kube-public'])

/** The plug-in NamespaceLifecycle. */
export function createNamespaceLifecycle(api: Pick<ClusterApi, 'get'>): AdmissionPlugin {
  return {
    name: 'NamespaceLifecycle',
    mutate: (attributes) => {
      check(api, attributes)
      return attributes.object
    },
  }
}

function check(api: Pick<ClusterApi, 'get'>, attributes: AdmissionAttributes): void {
  const { operation, resource, name = '' } = attributes
  if (resource.group === '' && resource.plural === 'namespaces') {
    if (operation === 'DELETE' && immortal.has(name)) {
      throw forbidden(resource, name, 'this namespace may not be deleted')
    }
    return
  }
  const namespace = attributes.namespace ?? ''
  if (!resource.namespaced || namespace === '' || operation === 'DELETE') return
  // Access reviews must stay possible for clients that clean up.
  if (resource.group === 'authorization.k8s.io') return
  const found = api.get('namespaces', undefined, namespace)
  if (found === undefined) throw notFound({ group: '', plural: 'namespaces' }, namespace)
  const isTerminating = stringAt(objectAt(found, 'status'), 'phase') === 'Terminating'
  if (operation !== 'CREATE' || !isTerminating) return
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`
  const message = `namespace ${namespace} is being terminated`
  throw forbidden(resource, requestedName(attributes), why, [
    { reason: 'NamespaceTerminating', message, field: 'metadata.namespace' },
  ])
}

/** The object's name, or its prefix if the server generates the name. */
export function requestedName(attributes: AdmissionAttributes): string {
  if (attributes.name !== undefined && attributes.name !== '') return attributes.name
  const metadata = objectAt(attributes.object, 'metadata')
  return stringAt(metadata, 'name') || stringAt(metadata, 'generateName') || ''
}
