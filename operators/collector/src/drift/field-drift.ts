/** Finds the fields of a chart that other managers changed, from the field ownership that the server records. */
import { isRecord, type JsonRecord } from '@reeve/http'
import type { KubeObject, ManagedFieldsEntry } from '@reeve/kube'
import { compareFields, mergeFieldTrees, parseFieldTree } from '@reeve/runtime/engine'

const SCALE = 'scale'
const REPLICAS = 'spec.replicas'

/** Autoscalers write through the scale subresource; so does `kubectl scale`, which is a manual change. */
const MANUAL = /^kubectl/

/** No more fields than this are listed per object. */
const MAX_FIELDS = 20

/**
 * Paths of the fields of a manifest that are no longer as Helm wrote them.
 *
 * Only values count that Helm no longer owns: see `Comparison` of the runtime. Fields that the manifest does not set are
 * ignored, and so are replicas that an autoscaler manages.
 *
 * @param fieldManager the name under which helm writes
 *
 * @example
 * driftedFields(manifestObject, deployment, 'helm') // ['spec.template.spec.containers[name=web].image']
 */
export function driftedFields(desired: KubeObject, live: KubeObject, fieldManager: string): readonly string[] {
  const entries = live.metadata.managedFields ?? []
  const trees = entries.filter((entry) => isHelms(entry, fieldManager)).map(({ fieldsV1 }) => parseFieldTree(fieldsV1))
  const tree = mergeFieldTrees(trees)
  const paths = compareFields(asStored(desired), live, tree && { tree }, 'drift').map(({ path }) => path)
  const found = isAutoscaled(entries) ? paths.filter((path) => path !== REPLICAS) : paths
  return found.slice(0, MAX_FIELDS)
}

function isHelms({ manager, subresource = '' }: ManagedFieldsEntry, fieldManager: string): boolean {
  return manager === fieldManager && subresource === ''
}

function isAutoscaled(entries: readonly ManagedFieldsEntry[]): boolean {
  return entries.some(({ subresource, manager = '' }) => subresource === SCALE && !MANUAL.test(manager))
}

/** A manifest without its status, which is not applied, and with the texts of a Secret as the server stores them. */
function asStored(object: KubeObject): KubeObject {
  const { status: _status, stringData, data, ...rest } = object as KubeObject & JsonRecord
  if (object.kind !== 'Secret' || !isRecord(stringData)) return { ...rest, ...(data !== undefined && { data }) }
  const encoded = Object.entries(stringData).map(([key, text]) => [key, Buffer.from(String(text)).toString('base64')])
  return { ...rest, data: { ...(isRecord(data) && data), ...Object.fromEntries(encoded) } } as KubeObject
}
