/**
 * Requires permissions on owners from clients that set owner references. Disabled by default; some distributions enable
 * it.
 */

import type { AdmissionAttributes, AdmissionPlugin } from '../api/admission-plugin.ts'
import { forbidden } from '../api/api-errors.ts'
import type { Authorizer } from '../auth/authorizer.ts'
import { arrayAt, isJsonObject, type JsonObject, jsonEqual, objectAt, stringAt } from '../json.ts'
import type { ResourceInfo } from '../registry/resource-info.ts'
import { requestedName } from './namespace-lifecycle.ts'

/** Dependencies of the plug-in. */
export interface OwnerReferencesOptions {
  readonly authorizer: Authorizer
  /** Finds the resource of a kind. */
  readonly byKind: (group: string, version: string, kind: string) => ResourceInfo | undefined
}

/**
 * The plug-in OwnerReferencesPermissionEnforcement: changing the owners of an object requires permission to delete it,
 * and `blockOwnerDeletion` requires permission to set the owner's finalizers.
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
      // The creator of an object could as well create it without owners.
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
  if (!allowed) throw denied(attributes, "cannot set an ownerRef on a resource you can't delete", reason)
}

function requireFinalizers(options: OwnerReferencesOptions, attributes: AdmissionAttributes, owner: JsonObject): void {
  const why = "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on"
  const apiVersion = stringAt(owner, 'apiVersion') ?? ''
  const [version = '', group = ''] = apiVersion.split('/').reverse()
  const info = options.byKind(group, version, stringAt(owner, 'kind') ?? '')
  if (info === undefined) throw denied(attributes, why, `no matches for kind ${JSON.stringify(owner.kind)}`)
  const { allowed, reason } = options.authorizer.authorize({
    user: attributes.user,
    verb: 'update',
    group,
    resource: info.plural,
    subresource: 'finalizers',
    namespace: info.namespaced ? attributes.namespace : undefined,
    name: stringAt(owner, 'name'),
  })
  if (!allowed) throw denied(attributes, why, reason)
}

function denied(attributes: AdmissionAttributes, why: string, reason: string): Error {
  return forbidden(attributes.resource, requestedName(attributes), `${why}: ${reason}, <nil>`)
}

function ownersOf(object: JsonObject | undefined): JsonObject[] {
  return arrayAt(objectAt(object, 'metadata'), 'ownerReferences').filter(isJsonObject)
}
