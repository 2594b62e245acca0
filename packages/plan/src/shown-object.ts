/** Objects as a plan may show them: without secrets, without what servers keep for themselves, the same in every run. */
import { isRecord } from '@reeve/http'
import type { KubeObject } from '@reeve/kube'
import { CREATED_FROM } from '@reeve/runtime/engine'
import { LAST_APPLIED } from './apply-manifest.ts'
import { fieldPath } from './field-diff.ts'
import { GENERATED, KNOWN_AFTER_APPLY, SENSITIVE } from './placeholders.ts'

/** Metadata by which users identify an object; the rest belongs to servers and controllers. */
const SHOWN_METADATA = ['name', 'namespace', 'labels', 'annotations', 'finalizers'] as const

/** What controllers of the cluster note on workloads. */
const CONTROLLER_NOTES = ['deprecated.daemonset.template.generation', 'deployment.kubernetes.io/revision']

/** Annotations of tools and servers, which do not describe the object. The first may contain the data of a Secret. */
const BOOKKEEPING: readonly string[] = [LAST_APPLIED, CREATED_FROM, ...CONTROLLER_NOTES]

/** Chosen by the server unless it is `None`. */
const ADDRESSES = ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy'] as const

/**
 * The part of an object that is compared and shown: no status, no uid, no times, no annotations of tools.
 *
 * @example
 * fieldDiff(essence(before), essence(after))
 */
export function essence(object: KubeObject): Readonly<Record<string, unknown>> {
  const { apiVersion, kind, metadata, ...rest } = object
  const { status: _status, ...content } = rest as Readonly<Record<string, unknown>>
  const shown = SHOWN_METADATA.flatMap((field) => {
    const value = field === 'annotations' ? withoutBookkeeping(metadata.annotations) : metadata[field]
    return value === undefined ? [] : [[field, value] as const]
  })
  return { apiVersion, kind, metadata: Object.fromEntries(shown), ...content }
}

function withoutBookkeeping(
  annotations: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> | undefined {
  const entries = Object.entries(annotations).filter(([name]) => !BOOKKEEPING.includes(name))
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}

/** What an operator knows about its own objects. */
export interface ConcealOptions {
  /** Values that must not be shown, besides data of Secrets. @default none */
  readonly isSensitive?: (kind: string, path: string) => boolean
  /** Values that are generated, such as hashes. @default none */
  readonly isGenerated?: (path: string) => boolean
}

/** A value at a path of an object of a kind, as it may be shown. */
export type Conceal = (kind: string, path: string, value: unknown) => unknown

/**
 * Replaces what must not be shown or is not known yet.
 *
 * @example
 * concealer()('Secret', 'data.apiToken', 'ZHQwYzAx') // '(sensitive)'
 */
export function concealer({ isSensitive = no, isGenerated = no }: ConcealOptions = {}): Conceal {
  const within = (kind: string, path: string, value: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, conceal(kind, fieldPath(path, name), member)]),
    )
  const conceal: Conceal = (kind, path, value) => {
    if (isSecretData(kind, path) || isSensitive(kind, path))
      return isRecord(value) ? within(kind, path, value) : SENSITIVE
    if (isGenerated(path)) return GENERATED
    if (kind === 'Service' && isAddress(path) && value !== 'None') return KNOWN_AFTER_APPLY
    if (Array.isArray(value)) return value.map((item, index) => conceal(kind, `${path}[${index}]`, item))
    return isRecord(value) ? within(kind, path, value) : value
  }
  return conceal
}

const no = (): boolean => false

const isSecretData = (kind: string, path: string): boolean =>
  kind === 'Secret' && /^(data|stringData)(\.|\[|$)/.test(path)

const isAddress = (path: string): boolean => ADDRESSES.some((field) => path === `spec.${field}`)
