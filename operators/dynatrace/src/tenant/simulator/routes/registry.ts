/** The registry protocol, for pulling. */
import { bytesOf } from '../agent/deterministic-bytes.ts'
import { downloadResponse } from '../http/byte-range.ts'
import type { Call } from '../http/call.ts'
import { json, type SimulatedResponse } from '../http/response.ts'
import type { PathParameters, Route } from '../http/router.ts'
import { Refusal } from '../refusal.ts'
import { MEDIA_TYPES } from '../registry/image.ts'
import type { ImageRegistry } from '../registry/registry.ts'
import { REGISTRY_TOKEN_PATH, type RegistryAccess } from '../registry/registry-access.ts'

const VERSION = { 'docker-distribution-api-version': 'registry/2.0' }

/** Ping, token, manifests, blobs and tags. */
export function registryRoutes(registry: ImageRegistry, access: RegistryAccess): readonly Route[] {
  const route = (
    operation: string,
    path: string,
    handle: (call: Call, parameters: PathParameters) => SimulatedResponse,
  ): Route => ({ operation, path, method: 'GET', area: 'simulator', errors: 'registry', handle })
  const pull = (
    operation: string,
    path: string,
    handle: (call: Call, repository: string, reference: string) => SimulatedResponse,
  ) =>
    route(operation, path, (call, { repository = '', reference = '' }) => {
      access.require(call, repository)
      return handle(call, repository, reference)
    })
  return [
    route('registry-token', REGISTRY_TOKEN_PATH, (call) => {
      const scopes = call.query.getAll('scope').flatMap((scope) => scope.split(' '))
      const { token, expiresInSeconds } = access.issue(call, scopes)
      return json(200, { token, access_token: token, expires_in: expiresInSeconds })
    }),
    route('registry-ping', '/v2/', (call) => {
      access.require(call, undefined)
      return json(200, {}, VERSION)
    }),
    pull('registry-manifest', '/v2/:repository+/manifests/:reference', (call, repository, reference) => {
      const manifest = registry.manifest(repository, reference)
      if (manifest === undefined) throw unknown('MANIFEST_UNKNOWN', `there is no manifest ${repository}:${reference}`)
      requireAccepted(call, manifest.mediaType)
      const { digest, mediaType: contentType, content } = manifest
      const headers = { ...VERSION, 'docker-content-digest': digest }
      return downloadResponse(call.headers, bytesOf(content), { etag: `"${digest}"`, contentType, headers })
    }),
    pull('registry-blob', '/v2/:repository+/blobs/:reference', (call, repository, digest) => {
      const blob = registry.blob(repository, digest)
      if (blob === undefined) throw unknown('BLOB_UNKNOWN', `there is no blob ${digest} in ${repository}`)
      return downloadResponse(call.headers, bytesOf(blob.content), {
        etag: `"${digest}"`,
        contentType: 'application/octet-stream',
        headers: { ...VERSION, 'docker-content-digest': digest },
      })
    }),
    pull('registry-tags', '/v2/:repository+/tags/list', ({ query }, name) => {
      const all = registry.tags(name)
      if (all === undefined) throw unknown('NAME_UNKNOWN', `there is no repository ${name}`)
      const last = query.get('last') ?? ''
      const rest = all.filter((tag) => tag > last)
      const count = /^\d{1,6}$/.test(query.get('n') ?? '') ? Number(query.get('n')) : rest.length
      const tags = rest.slice(0, count)
      const isMore = tags.length < rest.length && tags.length > 0
      const next = `</v2/${name}/tags/list?n=${count}&last=${tags.at(-1)}>; rel="next"`
      return json(200, { name, tags }, { ...VERSION, ...(isMore && { link: next }) })
    }),
  ]
}

/** A client that says what it understands and leaves this out gets nothing it could not read. */
function requireAccepted({ headers }: Call, mediaType: string): void {
  const accepted = (headers.accept ?? '').split(',').map((each) => (each.split(';', 1)[0] ?? '').trim())
  const isAnything = accepted.some((each) => each === '' || each === '*/*' || each === 'application/*')
  if (isAnything || accepted.includes(mediaType)) return
  const kind = mediaType === MEDIA_TYPES.index ? 'index' : 'manifest'
  throw unknown('MANIFEST_UNKNOWN', `there is only an OCI ${kind} (${mediaType}), which the client does not accept`)
}

function unknown(reason: string, message: string): Refusal {
  return new Refusal(404, message, { reason })
}
