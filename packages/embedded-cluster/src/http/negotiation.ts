/** Content negotiation by the `Accept` header. */
import { notAcceptable, notRepresentable } from '../api/api-errors.ts'
import { isTrue } from '../rest/request-info.ts'

/** A representation that the server supports. */
export interface Negotiated {
  readonly format: 'json' | 'yaml'
  /** Another rendering of the object, or `undefined` for the object itself. */
  readonly as: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList' | undefined
  /** The version of that rendering: `v1` or `v1beta1`. */
  readonly asVersion: string
}

/** The representation of an error. */
export interface FailureForm {
  readonly format: 'json' | 'yaml'
  readonly isPretty: boolean
}

/** One entry of an `Accept` header. */
export interface AcceptEntry {
  readonly type: string
  readonly parameters: Readonly<Record<string, string>>
  readonly quality: number
}

const plain: Negotiated = { format: 'json', as: undefined, asVersion: 'v1' }
const offered = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf']
const streamed = ['application/json;stream=watch', 'application/vnd.kubernetes.protobuf;stream=watch']

/** Splits an `Accept` header into entries, most preferred first. */
export function parseAccept(header: string): AcceptEntry[] {
  const entries = header.split(',').flatMap((part): AcceptEntry[] => {
    const [type = '', ...rest] = part.split(';').map((piece) => piece.trim())
    if (type === '') return []
    const parameters: Record<string, string> = {}
    for (const parameter of rest) {
      const [key = '', value = ''] = parameter.split('=').map((piece) => piece.trim())
      parameters[key] = value.replace(/^"|"$/g, '')
    }
    return [{ type: type.toLowerCase(), parameters, quality: parameters.q === undefined ? 1 : Number(parameters.q) }]
  })
  return entries.sort((a, b) => b.quality - a.quality)
}

/**
 * Chooses a representation; throws 406 if none of the accepted ones is supported. Protobuf is served as JSON: every
 * client that prefers it also supports JSON and reads the Content-Type of the response. A stream cannot be YAML. Some
 * resources have no tables.
 */
export function negotiate(header: string | undefined, isStream = false, hasTable = true): Negotiated {
  if (header === undefined || header === '' || header === 'application/json' || header === '*/*') return plain
  let isKnownType = false
  for (const entry of parseAccept(header)) {
    const format = formatOf(entry.type)
    if (format === undefined) continue
    isKnownType = true
    if (isStream && format === 'yaml') continue
    const { as, g, v } = entry.parameters
    if (as === undefined || as === '') return { ...plain, format }
    const isKnown = (as === 'Table' && hasTable) || as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList'
    if (isKnown && (g === undefined || g === 'meta.k8s.io') && (v === 'v1' || v === 'v1beta1')) {
      return { format, as, asVersion: v }
    }
  }
  if (isKnownType) throw notRepresentable(isStream ? streamed : offered)
  throw notAcceptable(isStream ? [...offered, ...streamed] : offered)
}

/** Whether to indent the response for a human reader: on request, or for user agents such as curl. */
export function wantsPretty(headers: Readonly<Record<string, string>>, query: URLSearchParams): boolean {
  const parameter = query.get('pretty')
  if (parameter !== null) return isTrue(parameter)
  return /^(curl|Wget|Mozilla\/5\.0)/.test(headers['user-agent'] ?? '')
}

/** The representation of an error. It is also sent to clients that accept nothing the server supports. */
export function negotiateFailure(headers: Readonly<Record<string, string>>, query: URLSearchParams): FailureForm {
  try {
    const { format, as } = negotiate(headers.accept)
    return { format, isPretty: as !== undefined || wantsPretty(headers, query) }
  } catch {
    // Nothing acceptable: the error is sent as JSON.
    return { format: 'json', isPretty: true }
  }
}

function formatOf(type: string): 'json' | 'yaml' | undefined {
  switch (type) {
    case 'application/json':
    case '*/*':
    case 'application/vnd.kubernetes.protobuf':
      return 'json'
    case 'application/yaml':
      return 'yaml'
    default:
      return undefined
  }
}
