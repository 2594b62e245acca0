/** Builds container images: layers, configurations, manifests and an index over all platforms. */
import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { Header } from 'tar'

/** The platforms of the images of an operator. */
export const PLATFORMS = ['amd64', 'arm64', 'ppc64le', 's390x'] as const

/** A processor, as images name it. */
export type Architecture = (typeof PLATFORMS)[number]

/** Names of what is inside an image. */
export const MEDIA_TYPES = {
  index: 'application/vnd.oci.image.index.v1+json',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar+gzip',
} as const

/** A file of a layer or, with a path that ends in `/`, a folder. */
export interface LayerFile {
  readonly path: string
  readonly mode: number
  readonly content: Buffer
}

/** The content of an image. */
export interface ImageDescription {
  readonly labels: Readonly<Record<string, string>>
  readonly entrypoint: readonly string[]
  /** Without several architectures the tag leads to a manifest instead of an index. @default all */
  readonly architectures?: readonly Architecture[]
  /** The files of the one layer, folders before what is in them. */
  files(architecture: Architecture): readonly LayerFile[]
}

/** Some bytes of an image, by their digest. */
export interface Blob {
  readonly digest: string
  readonly mediaType: string
  readonly content: Buffer
}

/** An image that can be pulled. */
export interface Image {
  /** What the tag leads to. */
  readonly root: Blob
  /** The manifests of the platforms. */
  readonly manifests: readonly Blob[]
  /** Configurations and layers. */
  readonly blobs: readonly Blob[]
}

/** The same description always gives the same digests. */
export function buildImage(description: ImageDescription): Image {
  const { architectures = PLATFORMS } = description
  const built = architectures.map((architecture) => buildPlatform(description, architecture))
  const manifests = built.map(({ manifest }) => manifest)
  const blobs = built.flatMap((each) => [each.config, each.layer])
  const [only] = manifests
  if (manifests.length === 1 && only !== undefined) return { root: only, manifests, blobs }
  const root = jsonBlob(MEDIA_TYPES.index, {
    schemaVersion: 2,
    mediaType: MEDIA_TYPES.index,
    manifests: built.map(({ manifest, architecture }) => ({
      ...descriptor(manifest),
      platform: { architecture, os: 'linux' },
    })),
  })
  return { root, manifests, blobs }
}

function buildPlatform({ files, labels, entrypoint }: ImageDescription, architecture: Architecture) {
  const archive = tarArchive(files(architecture))
  const layer = blob(MEDIA_TYPES.layer, gzipSync(archive))
  const config = jsonBlob(MEDIA_TYPES.config, {
    architecture,
    os: 'linux',
    created: '2025-01-01T00:00:00Z',
    config: { Labels: labels, Entrypoint: entrypoint },
    rootfs: { type: 'layers', diff_ids: [digestOf(archive)] },
    history: [{ created: '2025-01-01T00:00:00Z', created_by: 'simulator' }],
  })
  const manifest = jsonBlob(MEDIA_TYPES.manifest, {
    schemaVersion: 2,
    mediaType: MEDIA_TYPES.manifest,
    config: descriptor(config),
    layers: [descriptor(layer)],
  })
  return { architecture, layer, config, manifest }
}

const TAR_BLOCK_BYTES = 512

function tarArchive(files: readonly LayerFile[]): Buffer {
  const parts = files.flatMap(({ path, mode, content }) => {
    const header = new Header({
      path,
      mode,
      uid: 0,
      gid: 0,
      size: content.length,
      type: path.endsWith('/') ? 'Directory' : 'File',
      mtime: new Date('2025-01-01T00:00:00Z'),
    })
    const block = Buffer.alloc(TAR_BLOCK_BYTES)
    header.encode(block, 0)
    return [block, content, Buffer.alloc(-content.length & (TAR_BLOCK_BYTES - 1))]
  })
  return Buffer.concat([...parts, Buffer.alloc(2 * TAR_BLOCK_BYTES)])
}

function blob(mediaType: string, content: Buffer): Blob {
  return { digest: digestOf(content), mediaType, content }
}

function jsonBlob(mediaType: string, value: unknown): Blob {
  return blob(mediaType, Buffer.from(JSON.stringify(value)))
}

function descriptor({ mediaType, digest, content }: Blob) {
  return { mediaType, digest, size: content.length }
}

/** The address of some bytes. */
export function digestOf(content: Buffer): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`
}
