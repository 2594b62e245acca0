/** From the bytes of a request to JSON, whatever format they are in. */
import { isJsonObject, type JsonObject } from '../json.ts'
import type { ProtobufDecoder } from '../protobuf/decoder.ts'
import { MalformedProtobuf } from '../protobuf/wire-reader.ts'
import { badRequest, unsupportedMediaType } from '../rest/api-errors.ts'
import { type ParsedBody, parseJson, parseYaml } from '../schema/parse.ts'
import { StatusError } from '../status-error.ts'
import type { ServerRequest } from './exchange.ts'

/** The largest body the server reads. */
export const MAX_BODY_BYTES = 3 * 1024 * 1024

const decoder = new TextDecoder()

/** The media type of a request's body without its parameters; JSON when it says nothing. */
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

/** Parses a body that must be there. */
export function parseBody(
  request: ServerRequest,
  protobuf: ProtobufDecoder,
  accepted: readonly string[] = acceptedTypes,
): ParsedBody {
  if (bytesOf(request.body) > MAX_BODY_BYTES) throw bodyTooLarge()
  const type = mediaType(request)
  if (!accepted.includes(type)) throw unsupportedMediaType(accepted)
  if (type === PROTOBUF) return parseProtobuf(request.body, protobuf)
  const text = typeof request.body === 'string' ? request.body : decoder.decode(request.body ?? new Uint8Array())
  return type.endsWith('yaml') ? parseYaml(text) : parseJson(text)
}

/** Parses an optional body of options, such as DeleteOptions. */
export function parseOptionsBody(request: ServerRequest, protobuf: ProtobufDecoder): JsonObject | undefined {
  if (bytesOf(request.body) === 0) return undefined
  const { value } = parseBody(request, protobuf)
  return isJsonObject(value) ? value : undefined
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
