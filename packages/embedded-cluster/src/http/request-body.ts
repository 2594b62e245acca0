/** Parses request bodies of all supported formats to JSON. */

import { badRequest, unsupportedMediaType } from '../api/api-errors.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import type { ProtobufDecoder } from '../protobuf/decoder.ts'
import { MalformedProtobuf } from '../protobuf/wire-reader.ts'
import { type ParsedBody, parseJson } from '../schema/parse.ts'
import { StatusError } from '../status-error.ts'
import type { ServerRequest } from './exchange.ts'

/** The largest body the server reads. */
export const MAX_BODY_BYTES = 3 * 1024 * 1024

// A byte order mark is not valid JSON, so it must not be dropped here.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** The media type of a request's body without its parameters; JSON by default. */
export function mediaType(request: ServerRequest): string {
  const header = request.headers['content-type'] ?? ''
  return header === '' ? 'application/json' : (header.split(';')[0] ?? '').trim().toLowerCase()
}

/** 413. */
export function bodyTooLarge(): StatusError {
  return new StatusError(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${MAX_BODY_BYTES}`)
}

function bytesOf(body: string | Uint8Array | undefined): number {
  if (body === undefined) return 0
  return typeof body === 'string' ? Buffer.byteLength(body) : body.length
}

/** Parses a required body; `kind` is the expected kind, for messages. */
export async function parseBody(
  request: ServerRequest,
  protobuf: ProtobufDecoder,
  kind: string,
  accepted: readonly string[] = acceptedTypes,
): Promise<ParsedBody> {
  return parseObject(request, protobuf, accepted, (why, text) =>
    badRequest(`the object provided is unrecognized (must be of type ${kind}): ${why} (${summary(text)})`),
  )
}

async function parseObject(
  request: ServerRequest,
  protobuf: ProtobufDecoder,
  accepted: readonly string[],
  refuse: (why: string, text: string) => StatusError,
): Promise<ParsedBody> {
  if (bytesOf(request.body) > MAX_BODY_BYTES) throw bodyTooLarge()
  const type = mediaType(request)
  if (!accepted.includes(type)) throw unsupportedMediaType(accepted)
  if (type === PROTOBUF) return parseProtobuf(request.body, protobuf)
  const text = textOf(request.body)
  const unrecognized = (why: string) => refuse(`couldn't get version/kind; json parse error: ${why}`, text)
  const parsed = await parseText(text, type.endsWith('yaml'), unrecognized)
  // Null is treated as an object without fields.
  if (parsed.value === null) return { value: {}, duplicates: [] }
  if (!isJsonObject(parsed.value)) {
    const target =
      'Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
    throw unrecognized(`json: cannot unmarshal ${jsonType(parsed.value)} into ${target}`)
  }
  for (const field of ['apiVersion', 'kind']) {
    const value = parsed.value[field] ?? ''
    if (typeof value === 'string') continue
    throw unrecognized(`json: cannot unmarshal ${jsonType(value)} into Go struct field .${field} of type string`)
  }
  return parsed
}

/** Parses a patch: JSON, except for apply, which is YAML. */
export async function parsePatch(request: ServerRequest): Promise<ParsedBody> {
  if (bytesOf(request.body) > MAX_BODY_BYTES) throw bodyTooLarge()
  const isYaml = mediaType(request).endsWith('yaml')
  return parseText(textOf(request.body), isYaml, (why) =>
    badRequest(`error decoding ${isYaml ? 'YAML' : 'patch'}: ${why}`),
  )
}

/** Parses an optional body of DeleteOptions. */
export async function parseOptionsBody(
  request: ServerRequest,
  protobuf: ProtobufDecoder,
): Promise<JsonObject | undefined> {
  if (bytesOf(request.body) === 0) return undefined
  const { value } = await parseObject(request, protobuf, acceptedTypes, badRequest)
  if (!isJsonObject(value)) return undefined
  const { kind = 'DeleteOptions', apiVersion = 'v1' } = value
  if (kind !== '' && kind !== 'DeleteOptions') {
    const version = JSON.stringify(apiVersion)
    const scheme = 'in scheme "pkg/runtime/scheme.go:111"'
    throw badRequest(`no kind ${JSON.stringify(kind)} is registered for version ${version} ${scheme}`)
  }
  return value
}

function textOf(body: string | Uint8Array | undefined): string {
  return typeof body === 'string' ? body : decoder.decode(body ?? new Uint8Array())
}

async function parseText(text: string, isYaml: boolean, refuse: (why: string) => StatusError): Promise<ParsedBody> {
  if (isYaml) {
    const json = jsonInYaml(text)
    if (json !== undefined) return json
    const { parseYaml } = await import('../schema/parse-yaml.ts')
    return parseYaml(text)
  }
  try {
    return parseJson(text)
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    throw refuse(jsonProblem(text, error))
  }
}

/**
 * A body declared as YAML that is flawless JSON, as most clients apply: it does not need the YAML parser, which takes
 * longer to load than to use.
 */
function jsonInYaml(text: string): ParsedBody | undefined {
  if (!/^\s*[{[]/.test(text)) return undefined
  try {
    const { value, duplicates } = parseJson(text)
    return duplicates.length === 0 ? { value, duplicates, isYaml: true } : undefined
  } catch {
    // Flow-style YAML starts like JSON; the YAML parser has the last word.
    return undefined
  }
}

/** The error of a JSON text, in the wording of the real server's parser as far as possible. */
function jsonProblem(text: string, error: StatusError): string {
  if (/nested/.test(error.message)) return "invalid character '{' exceeded max depth"
  const position = Number(/at position (\d+)/.exec(error.message)?.[1] ?? text.length)
  // For short texts the engine reports the character, but not its position.
  const character = /Unexpected token '(.)'/s.exec(error.message)?.[1] ?? text[position]
  const isCutOff = position >= text.trimEnd().length && !error.message.includes('Unexpected token')
  if (isCutOff || character === undefined || /[Uu]nterminated/.test(error.message)) {
    return 'unexpected end of JSON input'
  }
  const where = places.find(([said]) => error.message.includes(said))?.[1] ?? 'looking for beginning of value'
  // The real server parses bytes, and reports the unexpected one.
  const byte = String.fromCharCode(Buffer.from(character)[0] ?? 0)
  return `invalid character ${JSON.stringify(byte).replaceAll('"', "'")} ${where}`
}

/** The position in the engine's message, and the wording of the real server. */
const places: readonly (readonly [said: string, place: string])[] = [
  ['after JSON', 'after top-level value'],
  ['Bad control character', 'in string literal'],
  ['Bad escaped character', 'in string escape code'],
  ['Bad Unicode escape', 'in \\u hexadecimal character escape'],
  ['after property value', 'after object key:value pair'],
  ['after array element', 'after array element'],
  ['after property name', 'after object key'],
  ['property name', 'looking for beginning of object key string'],
]

const SUMMARY_LENGTH = 30

/** The start of a body, for messages; anything that does not look like an object is shown in hexadecimal. */
function summary(text: string): string {
  if (text === '') return '<empty>'
  const isObject = text.startsWith('{')
  const shown = text.slice(0, SUMMARY_LENGTH)
  const more = text.length > SUMMARY_LENGTH ? ' ...' : ''
  return isObject ? `${shown}${more}` : `${Buffer.from(shown).toString('hex')}${more}`
}

function jsonType(value: JsonValue): string {
  if (Array.isArray(value)) return 'array'
  return typeof value === 'boolean' ? 'bool' : typeof value
}

const PROTOBUF = 'application/vnd.kubernetes.protobuf'

/** Bodies of built-in objects. */
export const acceptedTypes = ['application/json', 'application/yaml', PROTOBUF]
/** Bodies of custom resources, which have no protobuf form. */
export const customTypes = ['application/json', 'application/yaml']

function parseProtobuf(body: string | Uint8Array | undefined, protobuf: ProtobufDecoder): ParsedBody {
  try {
    return {
      value: protobuf.decode(typeof body === 'string' ? Buffer.from(body) : (body ?? new Uint8Array())),
      duplicates: [],
    }
  } catch (error) {
    if (error instanceof MalformedProtobuf) throw badRequest(error.message)
    throw error
  }
}
