/** Requests with responses recorded from a real API server, and their comparison. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { RawClient, RawRequest } from '@reeve/cluster-under-test'

/** A JSON object of a request or response. */
export interface JsonObject {
  readonly [field: string]: unknown
}

/** A sequence of requests; the response to the last one is compared, the others prepare it. */
export interface RecordedCase {
  /** A sentence, unique among all cases. */
  readonly name: string
  readonly requests: readonly RawRequest[]
}

/** Status and body, without values that differ between runs. */
export interface RecordedResponse {
  readonly status: number
  readonly body: unknown
  readonly warnings?: readonly string[]
}

/** Placeholder for the namespace of the run in paths, bodies and responses. */
const NAMESPACE = 'recorded-namespace'

/** Records by the name of the case. */
export type Records = Readonly<Record<string, RecordedResponse>>

/** The path of objects of a kind. */
export interface ResourcePath {
  readonly apiVersion: string
  readonly kind: string
  readonly plural: string
  readonly isClusterScoped?: boolean
}

/** The path of a resource's collection. */
export function collectionPath({ apiVersion, plural, isClusterScoped = false }: ResourcePath): string {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
  return isClusterScoped ? `${root}/${plural}` : `${root}/namespaces/${NAMESPACE}/${plural}`
}

const FIELD_MANAGER = 'fieldManager=recorded'

function objectOf(resource: ResourcePath, fields: JsonObject): JsonObject {
  const { apiVersion, kind } = resource
  const metadata = { name: 'recorded', ...(fields.metadata as JsonObject | undefined) }
  return { apiVersion, kind, ...fields, metadata }
}

/** A case that creates an object without storing it. `fields` is the object without kind, version and name. */
export function created(name: string, resource: ResourcePath, fields: JsonObject = {}): RecordedCase {
  const path = `${collectionPath(resource)}?dryRun=All&${FIELD_MANAGER}`
  return { name, requests: [{ method: 'POST', path, body: objectOf(resource, fields) }] }
}

/** A case that stores an object, then replaces it. */
export function replaced(
  name: string,
  resource: ResourcePath,
  before: JsonObject,
  after: JsonObject,
  objectName = nameFor(name),
): RecordedCase {
  const collection = collectionPath(resource)
  const named = (fields: JsonObject) =>
    objectOf(resource, { ...fields, metadata: { ...(fields.metadata as JsonObject | undefined), name: objectName } })
  return {
    name,
    requests: [
      { method: 'POST', path: `${collection}?${FIELD_MANAGER}`, body: named(before) },
      { method: 'PUT', path: `${collection}/${objectName}?dryRun=All&${FIELD_MANAGER}`, body: named(after) },
    ],
  }
}

/** A case that stores an object, then patches it. */
export function patched(name: string, resource: ResourcePath, before: JsonObject, patch: JsonObject): RecordedCase {
  const collection = collectionPath(resource)
  const objectName = nameFor(name)
  const metadata = { ...(before.metadata as JsonObject | undefined), name: objectName }
  return {
    name,
    requests: [
      { method: 'POST', path: `${collection}?${FIELD_MANAGER}`, body: objectOf(resource, { ...before, metadata }) },
      {
        method: 'PATCH',
        path: `${collection}/${objectName}?dryRun=All&${FIELD_MANAGER}`,
        body: patch,
        headers: { 'content-type': 'application/strategic-merge-patch+json' },
      },
    ],
  }
}

/** A name that no other case uses. */
function nameFor(name: string): string {
  const words = name.toLowerCase().replace(/[^a-z0-9]+/g, '-')
  return `recorded-${words}`.slice(0, 60).replace(/-+$/, '')
}

const ACCOUNT_DEADLINE_MS = 10_000

/** Waits for the service account that pods of a new namespace need. */
export async function awaitServiceAccount(raw: RawClient, namespace: string): Promise<void> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/default`
  const deadline = Date.now() + ACCOUNT_DEADLINE_MS
  while ((await raw.send({ path })).status !== 200) {
    if (Date.now() > deadline) throw new Error(`${path} did not appear in ${ACCOUNT_DEADLINE_MS} ms`)
    await sleep(50)
  }
}

/** Sends the requests of a case and returns the last response, masked. */
export async function perform(raw: RawClient, namespace: string, recorded: RecordedCase): Promise<RecordedResponse> {
  const withNamespace = (text: string) => text.replaceAll(NAMESPACE, namespace)
  let answer: RecordedResponse = { status: 0, body: undefined }
  const stored: string[] = []
  try {
    for (const [index, { body, path, ...request }] of recorded.requests.entries()) {
      const text =
        body === undefined ? undefined : withNamespace(typeof body === 'string' ? body : JSON.stringify(body))
      const {
        status,
        headers,
        text: answered,
      } = await raw.send({
        ...request,
        path: withNamespace(path),
        ...(text !== undefined && { body: text }),
      })
      const isLast = index === recorded.requests.length - 1
      if (!isLast && status >= 300)
        throw new Error(`${recorded.name}: ${request.method} ${path}: ${status} ${answered}`)
      if (!isLast && request.method === 'POST' && text !== undefined) {
        stored.push(`${withNamespace(path).replace(/\?.*/, '')}/${JSON.parse(text).metadata.name}`)
      }
      const warning = headers.warning
      const warnings = warning === undefined ? undefined : Array.isArray(warning) ? warning : [warning]
      answer = { status, body: mask(answered, namespace), ...(warnings && { warnings }) }
    }
  } finally {
    // Cluster-scoped objects would conflict with the next run.
    for (const path of stored) await raw.send({ method: 'DELETE', path })
  }
  return answer
}

/** Replaces values that the server generates. */
function mask(text: string, namespace: string): unknown {
  const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
  const masked = text
    .replaceAll(namespace, NAMESPACE)
    .replaceAll(uuid, 'UID')
    .replaceAll(/The range of valid IPs is [0-9./]+/g, 'The range of valid IPs is RANGE')
    // Values of whole templates and specs are printed in a format that only Go structs have.
    .replaceAll(
      /(spec\.template: |"message":")Invalid value: \{\\?"(?:Spec|labels|metadata|spec)\\?".*?\}: field is immutable/g,
      '$1Invalid value: STRUCT: field is immutable',
    )
  return sortCauses(
    JSON.parse(masked, (field, value) => {
      if (field === 'creationTimestamp' && typeof value === 'string') return 'TIME'
      if (/^(time|last\w*Time)$/.test(field) && typeof value === 'string') return 'TIME'
      if (field === 'resourceVersion' && typeof value === 'string' && value !== '') return 'VERSION'
      if (field === 'clusterIP' && /^10\./.test(value)) return 'ADDRESS'
      if (field === 'clusterIPs' && Array.isArray(value)) return value.map((ip) => (/^10\./.test(ip) ? 'ADDRESS' : ip))
      // Cases request one port of the lower band, from which the server does not allocate.
      if (/^(nodePort|healthCheckNodePort)$/.test(field) && Number(value) > 0 && value !== 30_042) return 'PORT'
      // The rest is a difference between Go structs.
      if (field === 'message' && typeof value === 'string')
        return value.replace(/\n(?:@@.*)?$/s, '').replace(/(compilation failed: ).*/s, '$1REASON')
      if (field === 'name' && /^kube-api-access-/.test(value)) return 'kube-api-access-SUFFIX'
      return value
    }),
  )
}

interface Cause {
  readonly field: string
  readonly message: string
}

/** The order of causes follows Go's maps and is random if several keys of a map are invalid. */
function sortCauses(body: { message?: string; details?: { causes?: Cause[] } }): unknown {
  const causes = body.details?.causes
  if (causes === undefined || body.message === undefined) return body
  const subject = /^.*? is invalid: /.exec(body.message)?.[0] ?? ''
  const texts = [...new Set(causes.map(({ field, message }) => `${field}: ${message}`))]
  const list = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`
  if (body.message !== `${subject}${list}`) return body
  const sorted = causes.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  return { ...body, message: `${subject}CAUSES`, details: { ...body.details, causes: sorted } }
}
