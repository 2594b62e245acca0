/** The `scale` subresource: replicas of a workload under one shape, whatever its kind. */
import { cloneJson, isJsonObject, type JsonObject, type JsonValue, objectAt, stringAt } from '../json.ts'
import type { ResourceInfo, ScalePaths } from '../registry/resource-info.ts'
import { storageKey } from '../registry/resource-info.ts'
import { objectKey } from '../store/stored-object.ts'
import { badRequest, invalid, notFound } from './api-errors.ts'
import { toRequestVersion, type WriteRequest } from './context.ts'
import { requireKind, requireObject } from './decode-object.ts'
import { formatLabelSelector } from './label-selector.ts'
import { patchTypes } from './patch.ts'
import { patchDocument } from './patch-document.ts'
import type { ServerContext } from './server-context.ts'
import type { SubresourceAnswer, SubresourceCall } from './subresources.ts'
import { changeObject } from './update.ts'

const scaleKind = { group: 'autoscaling', version: 'v1', kind: 'Scale' }
const builtinPaths: ScalePaths = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' }

/** Serves GET, PUT and PATCH of `scale`. */
export async function scale(
  context: ServerContext,
  request: WriteRequest,
  call: SubresourceCall,
): Promise<SubresourceAnswer> {
  const { info, name = '' } = request
  const stored = context.store.get(storageKey(info), objectKey(request.namespace, name))
  if (stored === undefined) throw notFound(info, name)
  if (call.verb === 'get') {
    return { status: 200, object: toScale(info, await toRequestVersion(context, request, stored.object)) }
  }
  const body = call.body()
  const object = await changeObject(context, request, {
    isPatch: true,
    compute: (live) => {
      const current = toScale(info, live)
      const wanted = call.verb === 'patch' ? patched(call, info, current, body.value) : requireObject(body.value)
      requireKind(context.registry, wanted, scaleKind)
      return { object: withReplicas(info, live, wanted), tracked: false }
    },
  })
  return { status: 200, object: toScale(info, object) }
}

function patched(call: SubresourceCall, info: ResourceInfo, current: JsonObject, patch: JsonValue): JsonObject {
  const type = patchTypes[call.mediaType]
  if (type === undefined || type === 'apply') {
    throw badRequest('the scale subresource accepts JSON, merge and strategic merge patches')
  }
  // Scale has no lists, so a strategic merge patch of it is a merge patch.
  return patchDocument(type === 'strategic' ? 'merge' : type, info, current, patch)
}

function withReplicas(info: ResourceInfo, live: JsonObject, wanted: JsonObject): JsonObject {
  const replicas = objectAt(wanted, 'spec').replicas ?? 0
  if (typeof replicas !== 'number' || !Number.isInteger(replicas) || replicas < 0) {
    const message = `Invalid value: ${JSON.stringify(replicas)}: must be greater than or equal to 0`
    const name = String(objectAt(live, 'metadata').name)
    throw invalid(scaleKind, name, [{ field: 'spec.replicas', reason: 'FieldValueInvalid', message }])
  }
  const draft = cloneJson(live)
  setPath(draft, (info.scalePaths ?? builtinPaths).specReplicasPath, replicas)
  const version = stringAt(objectAt(wanted, 'metadata'), 'resourceVersion')
  if (version !== undefined && version !== '') objectAt(draft, 'metadata').resourceVersion = version
  return draft
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
  // A ReplicationController's selector is the bare map of labels.
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
