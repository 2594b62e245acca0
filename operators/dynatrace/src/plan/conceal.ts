/** Objects as a plan may show them: without secrets, without what servers keep for themselves, the same in every run. */
import { isRecord, type KubeObject } from '@reeve/kube'
import { CREATED_FROM } from '@reeve/runtime/engine'
import { ANNOTATIONS } from '../controllers/rendering/annotations.ts'
import { fieldPath } from './field-diff.ts'
import { LAST_APPLIED } from './manifest-objects.ts'
import { GENERATED, KNOWN_AFTER_APPLY, SENSITIVE } from './placeholders.ts'

/** Metadata by which people know an object; the rest belongs to servers and controllers. */
const SHOWN_METADATA = ['name', 'namespace', 'labels', 'annotations', 'finalizers'] as const

/** What controllers of the cluster note on workloads. */
const CONTROLLER_NOTES = ['deprecated.daemonset.template.generation', 'deployment.kubernetes.io/revision']

/** Books of tools and servers, which say nothing about what an object is. The first may hold the data of a Secret. */
const BOOKKEEPING: readonly string[] = [LAST_APPLIED, CREATED_FROM, ...CONTROLLER_NOTES]

/** Chosen by the server unless it says that there is none. */
const ADDRESSES = ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy'] as const

/**
 * The part of an object that is compared and shown: no status, no uid, no times, no books of tools.
 *
 * @example
 * fieldDiff(essence(before), essence(after))
 */
export function essence(object: KubeObject): Readonly<Record<string, unknown>> {
  const { apiVersion, kind, metadata, ...rest } = object
  const { status: _status, ...content } = rest as Readonly<Record<string, unknown>>
  const shown = SHOWN_METADATA.flatMap((field) => {
    const value = field === 'annotations' ? withoutBooks(metadata.annotations) : metadata[field]
    return value === undefined ? [] : [[field, value] as const]
  })
  return { apiVersion, kind, metadata: Object.fromEntries(shown), ...content }
}

function withoutBooks(
  annotations: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> | undefined {
  const entries = Object.entries(annotations).filter(([name]) => !BOOKKEEPING.includes(name))
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}

/** The hash of everything wanted: it differs whenever anything does. */
const TEMPLATE_HASH = `metadata.annotations[${ANNOTATIONS.templateHash}]`

/** Whether a field only repeats that others differ. */
export const isEcho = (path: string): boolean => path === TEMPLATE_HASH

/** Annotations of the operator with hashes, wherever they stand. */
const HASH = /annotations\[internal\.operator\.dynatrace\.com\/[a-z-]*hash\]$/

/**
 * A value at a path of an object of a kind, as it may be shown.
 *
 * @example
 * conceal('Secret', 'data.apiToken', 'ZHQwYzAx') // '(sensitive)'
 */
export function conceal(kind: string, path: string, value: unknown): unknown {
  if (isSensitive(kind, path)) return isRecord(value) ? within(kind, path, value) : SENSITIVE
  if (HASH.test(path)) return GENERATED
  if (kind === 'Service' && isAddress(path) && value !== 'None') return KNOWN_AFTER_APPLY
  if (Array.isArray(value)) return value.map((item, index) => conceal(kind, `${path}[${index}]`, item))
  return isRecord(value) ? within(kind, path, value) : value
}

function within(
  kind: string,
  path: string,
  value: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, conceal(kind, fieldPath(path, name), member)]),
  )
}

/** The address of a proxy may hold a password; in a DynaKube it stands in clear. */
function isSensitive(kind: string, path: string): boolean {
  if (kind === 'Secret') return /^(data|stringData)(\.|\[|$)/.test(path)
  return kind === 'DynaKube' && path === 'spec.proxy.value'
}

const isAddress = (path: string): boolean => ADDRESSES.some((field) => path === `spec.${field}`)
