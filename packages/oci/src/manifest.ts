/** Manifests and indexes of images, in the forms of OCI and of Docker. */
import { decodeJson } from '@reeve/http/decode-json'
import { Type } from 'typebox'
import { isDigest } from './image-reference.ts'
import { NoPlatformError, RegistryResponseError } from './registry-error.ts'

/** Names a piece of content. */
export interface Descriptor {
  readonly mediaType: string
  readonly digest: string
  readonly size: number
}

/** A kind of machine. */
export interface Platform {
  readonly os: string
  /** As in images: `amd64`, `arm64`, `ppc64le`, `s390x`. */
  readonly architecture: string
}

/** One image for one platform. */
export interface ImageManifest {
  readonly config: Descriptor
  /** In the order in which they are unpacked over each other. */
  readonly layers: readonly Descriptor[]
}

/** An image for several platforms. */
export interface ImageIndex {
  readonly manifests: readonly (Descriptor & { readonly platform?: Platform })[]
}

const INDEX_TYPES = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
]
const MANIFEST_TYPES = [
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
]

/** Everything that can be understood, for the `accept` header. */
export const MANIFEST_ACCEPT: string = [...MANIFEST_TYPES, ...INDEX_TYPES].join(', ')

const DescriptorSchema = Type.Object({
  mediaType: Type.String(),
  digest: Type.String(),
  size: Type.Integer({ minimum: 0 }),
})
const ManifestSchema = Type.Object({ config: DescriptorSchema, layers: Type.Array(DescriptorSchema) })
const IndexSchema = Type.Object({
  manifests: Type.Array(
    Type.Intersect([
      DescriptorSchema,
      Type.Object({
        platform: Type.Optional(Type.Object({ os: Type.String(), architecture: Type.String() })),
      }),
    ]),
  ),
})
const Kind = Type.Object({ mediaType: Type.Optional(Type.String()), manifests: Type.Optional(Type.Unknown()) })

/**
 * Reads either form. What it is stands in the body, in the content type, or shows by its members, in this order.
 *
 * *Errors*: {@link RegistryResponseError} naming `what` and the field.
 */
export function parseManifest(what: string, bytes: Uint8Array, contentType: string): ImageManifest | ImageIndex {
  const kind = decodeJson(Kind, bytes)
  if ('problem' in kind) throw new RegistryResponseError(`${what}: ${kind.problem}`)
  const [declared = ''] = (kind.value.mediaType ?? contentType).split(';')
  const isKnown = [...INDEX_TYPES, ...MANIFEST_TYPES].includes(declared)
  const isIndex = isKnown ? INDEX_TYPES.includes(declared) : kind.value.manifests !== undefined
  const decoded = isIndex ? decodeJson(IndexSchema, bytes) : decodeJson(ManifestSchema, bytes)
  if ('problem' in decoded) throw new RegistryResponseError(`${what}: ${decoded.problem}`)
  const content = decoded.value
  const descriptors = 'manifests' in content ? content.manifests : [content.config, ...content.layers]
  if (!descriptors.every(({ digest }) => isDigest(digest))) {
    throw new RegistryResponseError(`${what}: has a digest that cannot be verified`)
  }
  return content
}

/** The entry of an index for a platform. */
export function selectPlatform(what: string, { manifests }: ImageIndex, wanted: Platform): Descriptor {
  const found = manifests.find(
    ({ platform }) => platform?.os === wanted.os && platform.architecture === wanted.architecture,
  )
  if (found !== undefined) return found
  const offered = manifests.flatMap(({ platform }) => (platform ? [`${platform.os}/${platform.architecture}`] : []))
  throw new NoPlatformError(
    `${what}: no image for ${wanted.os}/${wanted.architecture}; available: ${offered.join(', ') || 'none'}`,
  )
}

const ARCHITECTURES: Readonly<Record<string, string>> = {
  x64: 'amd64',
  arm64: 'arm64',
  ppc64: 'ppc64le',
  s390x: 's390x',
}

/** The platform of Linux on a processor, by Node's name of it. */
export function linuxPlatform(architecture: string = process.arch): Platform {
  return { os: 'linux', architecture: ARCHITECTURES[architecture] ?? architecture }
}
