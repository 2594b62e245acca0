/** The `scale` subresource: replicas of a workload in a common form. */

import { badRequest, internalError, invalid, notFound, unsupportedPatchType } from '../api/api-errors.ts'
import { formatLabelSelector } from '../api/label-selector.ts'
import { serverSideApply } from '../apply/apply.ts'
import { cloneJson, isJsonObject, type JsonObject, type JsonValue, objectAt, stringAt } from '../json.ts'
import { apiVersionOf, type ResourceInfo, type ScalePaths, storageKey } from '../registry/resource-info.ts'
import { objectKey } from '../store/stored-object.ts'
import { toRequestVersion, type WriteRequest } from './context.ts'
import { requireKind, requireObject } from './decode-object.ts'
import { patchTypes, requireFieldManager } from './patch.ts'
import { patchDocument } from './patch-document.ts'
import { isTrue } from './request-info.ts'
import { scaleManagers, workloadManagers } from './scale-ownership.ts'
import type { ServerContext } from './server-context.ts'
import type { SubresourceCall, SubresourceResult } from './subresources.ts'
import { changeObject, uidConflict } from './update.ts'

const scaleKind = { group: 'autoscaling', version: 'v1', kind: 'Scale' }
const builtinPaths: ScalePaths = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' }

/** Serves GET, PUT and PATCH of `scale`. */
export async function scale(
  context: ServerContext,
  request: WriteRequest,
  call: SubresourceCall,
): Promise<SubresourceResult> {
  const { info, name = '' } = request
  const stored = context.store.get(storageKey(info), objectKey(request.namespace, name))
  if (stored === undefined) throw notFound(info, name)
  if (call.verb === 'get') {
    const object = await toRequestVersion(context, request, stored.object)
    const { specReplicasPath } = info.scalePaths ?? builtinPaths
    if (info.custom && getPath(object, specReplicasPath) === undefined) {
      throw internalError(`the spec replicas field ${JSON.stringify(specReplicasPath)} does not exist`)
    }
    return { status: 200, object: toScale(info, object) }
  }
  const body = await call.body()
  const object = await changeObject(context, request, {
    isPatch: true,
    admissionView: {
      offer: (whole) => ownedScale(info, whole),
      show: (whole) => toScale(info, whole),
      take: (whole, shown) => withReplicas(info, whole, shown),
    },
    compute: (live) => {
      const current = toScale(info, live)
      if (patchTypes[call.mediaType] === 'apply' && call.verb === 'patch') {
        return { object: applied(context, request, call, live, requireObject(body.value)), tracked: true }
      }
      const wanted = call.verb === 'patch' ? patched(call, info, current, body.value) : requireObject(body.value)
      requireKind(context.registry, wanted, scaleKind)
      const uid = stringAt(objectAt(wanted, 'metadata'), 'uid') ?? ''
      const actual = objectAt(live, 'metadata').uid
      if (uid !== '' && uid !== actual) throw uidConflict(request, uid, actual)
      return { object: withReplicas(info, live, wanted), tracked: false }
    },
  })
  return { status: 200, object: toScale(info, object) }
}

/** Merges an applied Scale: the owners of the workload's replicas are the owners of the Scale's. */
function applied(
  context: ServerContext,
  request: WriteRequest,
  call: SubresourceCall,
  live: JsonObject,
  configuration: JsonObject,
): JsonObject {
  const { info } = request
  requireFieldManager(call.query.get('fieldManager'))
  requireKind(context.registry, configuration, scaleKind)
  const path = replicasPath(info)
  const { managedFields } = objectAt(live, 'metadata')
  const result = serverSideApply({
    schema: context.schemaOf(scaleKind),
    apiVersion: 'autoscaling/v1',
    live: ownedScale(info, live),
    applied: configuration,
    manager: request.fieldManager,
    force: isTrue(call.query.get('force')),
    subresource: 'scale',
    now: context.clock.now(),
  })
  const draft = withReplicas(info, live, result)
  objectAt(draft, 'metadata').managedFields = workloadManagers(
    managedFields,
    objectAt(result, 'metadata').managedFields,
    path,
    apiVersionOf(info),
  )
  return draft
}

function patched(call: SubresourceCall, info: ResourceInfo, current: JsonObject, patch: JsonValue): JsonObject {
  const type = patchTypes[call.mediaType]
  if (type === undefined || type === 'apply') throw unsupportedPatchType()
  // Scale has no lists, so a strategic merge patch of it is a merge patch.
  return patchDocument(type === 'strategic' ? 'merge' : type, info, current, patch)
}

function withReplicas(info: ResourceInfo, live: JsonObject, wanted: JsonObject): JsonObject {
  const replicas = objectAt(wanted, 'spec').replicas ?? 0
  // Validation of the custom resource reports errors of its replicas.
  const isWrong = typeof replicas !== 'number' || !Number.isInteger(replicas) || (replicas < 0 && !info.custom)
  if (isWrong) {
    const message = `Invalid value: ${JSON.stringify(replicas)}: must be greater than or equal to 0`
    const name = String(objectAt(live, 'metadata').name)
    throw invalid(scaleKind, name, [{ field: 'spec.replicas', reason: 'FieldValueInvalid', message }])
  }
  const draft = cloneJson(live)
  const given = stringAt(objectAt(wanted, 'metadata'), 'name') ?? ''
  const name = String(objectAt(live, 'metadata').name)
  if (given !== '' && given !== name) {
    throw badRequest(`the name of the object (${given}) does not match the name on the URL (${name})`)
  }
  setPath(draft, (info.scalePaths ?? builtinPaths).specReplicasPath, replicas)
  const version = stringAt(objectAt(wanted, 'metadata'), 'resourceVersion')
  if (version !== undefined && version !== '') objectAt(draft, 'metadata').resourceVersion = version
  return draft
}

/** A Scale with managedFields for its replicas. */
function ownedScale(info: ResourceInfo, object: JsonObject): JsonObject {
  const scale = toScale(info, object)
  const managedFields = scaleManagers(objectAt(object, 'metadata').managedFields, replicasPath(info))
  return { ...scale, metadata: { ...objectAt(scale, 'metadata'), managedFields } }
}

function replicasPath(info: ResourceInfo): string[] {
  return segments((info.scalePaths ?? builtinPaths).specReplicasPath)
}

function toScale(info: ResourceInfo, object: JsonObject): JsonObject {
  const paths = info.scalePaths ?? builtinPaths
  const { name, namespace, uid, resourceVersion, creationTimestamp } = objectAt(object, 'metadata')
  const selector = selectorText(info, object)
  const replicas = getPath(object, paths.specReplicasPath)
  const current = getPath(object, paths.statusReplicasPath)
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, ...(namespace === undefined ? {} : { namespace }), uid, resourceVersion, creationTimestamp },
    spec: typeof replicas === 'number' && replicas !== 0 ? { replicas } : {},
    status: { replicas: typeof current === 'number' ? current : 0, ...(selector === '' ? {} : { selector }) },
  }
}

function selectorText(info: ResourceInfo, object: JsonObject): string {
  if (info.custom) {
    const path = info.scalePaths?.labelSelectorPath
    const value = path === undefined ? undefined : getPath(object, path)
    return typeof value === 'string' ? value : ''
  }
  const { selector } = objectAt(object, 'spec')
  if (!isJsonObject(selector)) return ''
  // A ReplicationController's selector is a plain map of labels.
  return formatLabelSelector(info.kind === 'ReplicationController' ? { matchLabels: selector } : selector)
}

function getPath(object: JsonObject, path: string): JsonValue | undefined {
  let value: JsonValue | undefined = object
  for (const segment of segments(path)) value = isJsonObject(value) ? value[segment] : undefined
  return value
}

function setPath(object: JsonObject, path: string, value: JsonValue): void {
  const steps = segments(path)
  const last = steps.pop()
  if (last === undefined) return
  let parent = object
  for (const segment of steps) {
    const next = parent[segment]
    if (isJsonObject(next)) parent = next
    else {
      const created: JsonObject = {}
      parent[segment] = created
      parent = created
    }
  }
  parent[last] = value
}

function segments(path: string): string[] {
  return path.split('.').filter((segment) => segment !== '')
}
