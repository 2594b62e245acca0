/** Requires rights on owners from whoever sets owner references; off on most clusters, on on some distributions. */
import type { Authorizer } from '../auth/authorizer.ts'
import { arrayAt, isJsonObject, type JsonObject, jsonEqual, objectAt, stringAt } from '../json.ts'
import type { ResourceInfo } from '../registry/resource-info.ts'
import { forbidden } from '../rest/api-errors.ts'
import type { AdmissionAttributes, AdmissionPlugin } from './admission.ts'
import { requestedName } from './namespace-lifecycle.ts'

/** What the plug-in decides with. */
export interface OwnerReferencesOptions {
  readonly authorizer: Authorizer
  /** The resource of a kind. */
  readonly byKind: (group: string, version: string, kind: string) => ResourceInfo | undefined
}

/**
 * The plug-in OwnerReferencesPermissionEnforcement: changing the owners of an object needs the right to delete it,
 * and `blockOwnerDeletion` the right to set the owner's finalizers. Operators meet it where it is switched on.
 */
export function createOwnerReferencesPermission(options: OwnerReferencesOptions): AdmissionPlugin {
  return {
    name: 'OwnerReferencesPermissionEnforcement',
    validate: (attributes) => {
      const { object, oldObject, operation, subresource } = attributes
      if (object === undefined || operation === 'DELETE' || (subresource ?? '') === 'status') return
      const owners = ownersOf(object)
      const before = ownersOf(oldObject)
      if (jsonEqual(owners, before)) return
      // Who creates an object may as well have left it out.
      if (operation === 'UPDATE') requireDelete(options, attributes)
      for (const owner of owners) {
        const isNew = !before.some((known) => known.uid === owner.uid && known.blockOwnerDeletion === true)
        if (owner.blockOwnerDeletion === true && isNew) requireFinalizers(options, attributes, owner)
      }
    },
  }
}

function requireDelete({ authorizer }: OwnerReferencesOptions, attributes: AdmissionAttributes): void {
  const { resource, user, namespace, name } = attributes
  const access = { user, verb: 'delete', group: resource.group, resource: resource.plural, namespace, name }
  const { allowed, reason } = authorizer.authorize(access)
  if (!allowed) throw refuse(attributes, "cannot set an ownerRef on a resource you can't delete", reason)
}

function requireFinalizers(options: OwnerReferencesOptions, attributes: AdmissionAttributes, owner: JsonObject): void {
  const why = "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on"
  const apiVersion = stringAt(owner, 'apiVersion') ?? ''
  const [version = '', group = ''] = apiVersion.split('/').reverse()
  const info = options.byKind(group, version, stringAt(owner, 'kind') ?? '')
  if (info === undefined) throw refuse(attributes, why, `no matches for kind ${JSON.stringify(owner.kind)}`)
  const { allowed, reason } = options.authorizer.authorize({
    user: attributes.user,
    verb: 'update',
    group,
    resource: info.plural,
    subresource: 'finalizers',
    namespace: info.namespaced ? attributes.namespace : undefined,
    name: stringAt(owner, 'name'),
  })
  if (!allowed) throw refuse(attributes, why, reason)
}

function refuse(attributes: AdmissionAttributes, why: string, reason: string): Error {
  return forbidden(attributes.resource, requestedName(attributes), `${why}: ${reason}, <nil>`)
}

function ownersOf(object: JsonObject | undefined): JsonObject[] {
  return arrayAt(objectAt(object, 'metadata'), 'ownerReferences').filter(isJsonObject)
}
