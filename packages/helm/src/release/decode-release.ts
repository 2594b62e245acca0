/** Reads Helm's release records, so that judging a release starts no process. Records are treated as hostile input. */
import { gunzipSync } from 'node:zlib'
import { codeOf, JsonLimitError, parseBoundedJson } from '@reeve/http'
import type { ObjectMeta, Secret } from '@reeve/kube'
import { DEFAULT_MAX_RECORD_BYTES, HELM_JSON_LIMITS } from '../defaults.ts'
import { ReleaseRecordError } from '../errors.ts'
import { parseRelease, releaseStatus } from './parse-release.ts'
import type { Release, ReleaseKey, ReleaseStatus } from './release.ts'

/** The type of the Secrets that Helm keeps its records in. */
export const RELEASE_SECRET_TYPE = 'helm.sh/release.v1'

/** Records from before Helm compressed them lack it; Helm still reads such, and so do we. */
const GZIP_MAGIC = Buffer.from([0x1f, 0x8b, 0x08])

/** Labels that Helm sets itself. */
const HELM_LABELS: ReadonlySet<string> = new Set(['name', 'owner', 'status', 'version', 'createdAt', 'modifiedAt'])

/** Options of {@link decodeRelease}. */
export interface DecodeOptions {
  /** Most bytes of a record, unpacked. @default 8_388_608 */
  readonly maxBytes?: number
}

/** What the labels of a record say, without decoding it. */
export interface ReleaseLabels {
  readonly name: string
  readonly revision: number
  readonly status: ReleaseStatus
}

/**
 * The label selector of all records of a release, or of all releases.
 *
 * @example
 * cache.informer(Secrets, { namespace: 'tenant-a', labelSelector: releaseSelector() })
 */
export function releaseSelector(name?: string): string {
  return name === undefined ? 'owner=helm' : `owner=helm,name=${name}`
}

/**
 * What the labels of a record say, or `undefined` for a Secret that is not a record. Enough for a metadata-only watch.
 *
 * @example
 * const newest = secrets.map((secret) => readReleaseLabels(secret.metadata)).findLast((record) => record)
 */
export function readReleaseLabels(metadata: ObjectMeta): ReleaseLabels | undefined {
  const { owner, name, version, status } = metadata.labels ?? {}
  if (owner !== 'helm' || name === undefined || version === undefined || !/^[1-9]\d{0,8}$/.test(version)) {
    return undefined
  }
  return { name, revision: Number(version), status: releaseStatus(status) }
}

/**
 * The release in a record Secret.
 *
 * *Guarantees*: the result's name, namespace and revision are those of the Secret: a record cannot pretend to be of another
 * release. What reading costs is bounded before anything is parsed.
 *
 * *Errors*: `ReleaseRecordError` names the Secret, and never quotes it.
 *
 * @example
 * const release = decodeRelease(await client.get(Secrets, { namespace, name: 'sh.helm.release.v1.web.v3' }))
 */
export function decodeRelease(secret: Secret, options: DecodeOptions = {}): Release {
  const { maxBytes = DEFAULT_MAX_RECORD_BYTES } = options
  const { namespace, name } = secret.metadata
  const fail: Fail = (problem, options) =>
    new ReleaseRecordError(`release record ${namespace}/${name} ${problem}`, options)
  const labels = readReleaseLabels(secret.metadata)
  if (secret.type !== RELEASE_SECRET_TYPE || labels === undefined) {
    throw fail(`is not a release record: it needs type ${RELEASE_SECRET_TYPE} and the labels owner, name and version`)
  }
  const release = parseRelease(parseJson(unpack(secret.data?.release, maxBytes, fail), fail), fail)
  const isItself =
    release.name === labels.name && release.revision === labels.revision && release.namespace === namespace
  if (!isItself) throw fail('contains another release than its labels and namespace say')
  return { ...release, labels: ownLabels(secret.metadata) }
}

function ownLabels(metadata: ObjectMeta): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(metadata.labels ?? {}).filter(([key]) => !HELM_LABELS.has(key)))
}

/** Options of {@link decodeHistory}. */
export interface HistoryOptions extends DecodeOptions {
  readonly release: ReleaseKey
}

/**
 * Every revision of one release among `secrets`, oldest first. Other Secrets are ignored.
 *
 * @example
 * const history = decodeHistory(cache.list(Secrets, { namespace }), { release: { namespace, name: 'web' } })
 */
export function decodeHistory(secrets: Iterable<Secret>, options: HistoryOptions): readonly Release[] {
  const { namespace, name } = options.release
  return [...secrets]
    .filter((secret) => secret.type === RELEASE_SECRET_TYPE && secret.metadata.namespace === namespace)
    .filter((secret) => readReleaseLabels(secret.metadata)?.name === name)
    .map((secret) => decodeRelease(secret, options))
    .sort((a, b) => a.revision - b.revision)
}

type Fail = (problem: string, options?: { readonly exceedsLimits: boolean }) => ReleaseRecordError

const REMEDY = 'delete the Secret, or install a smaller chart'

/** The API encodes the bytes of a Secret, and Helm encodes its gzip again. */
function unpack(data: string | undefined, maxBytes: number, fail: Fail): Buffer {
  if (data === undefined || data === '') throw fail('has no data.release')
  // Twice encoded: a record within the limit is at most 16/9 of it, even when it does not compress at all.
  if (data.length > 2 * maxBytes) throw fail(`is larger than ${maxBytes} bytes: ${REMEDY}`, { exceedsLimits: true })
  const packed = Buffer.from(Buffer.from(data, 'base64').toString('latin1'), 'base64')
  if (!packed.subarray(0, GZIP_MAGIC.length).equals(GZIP_MAGIC)) return packed
  try {
    return gunzipSync(packed, { maxOutputLength: maxBytes })
  } catch (error) {
    const isTooLarge = codeOf(error) === 'ERR_BUFFER_TOO_LARGE'
    if (!isTooLarge) throw fail('is not valid gzip')
    throw fail(`is larger than ${maxBytes} bytes when unpacked: ${REMEDY}`, { exceedsLimits: true })
  }
}

function parseJson(bytes: Buffer, fail: Fail): unknown {
  try {
    return parseBoundedJson(bytes, HELM_JSON_LIMITS)
  } catch (error) {
    if (error instanceof JsonLimitError) throw fail(`has ${error.message}: ${REMEDY}`, { exceedsLimits: true })
    // The parser's message quotes the record, and the record contains values.
    throw fail('is not valid JSON')
  }
}
