/** Writes images as an OCI layout, and as the archive of it that `ctr`, `skopeo` and `podman` import. */
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { create } from 'tar'
import { digestOf, type Layer } from './layer.ts'
import { architecture, type Platform } from './platform.ts'

const CONFIG = 'application/vnd.oci.image.config.v1+json'
const LAYER = 'application/vnd.oci.image.layer.v1.tar+gzip'
const MANIFEST = 'application/vnd.oci.image.manifest.v1+json'
const INDEX = 'application/vnd.oci.image.index.v1+json'

/** What a container of the image runs, and how. */
export interface RunConfig {
  readonly user: string
  readonly entrypoint: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly labels: Readonly<Record<string, string>>
}

/** The image for one platform. */
export interface PlatformImage {
  readonly platform: Platform
  /** From the lowest to the highest, each with the step that made it. */
  readonly layers: readonly (Layer & { readonly createdBy: string })[]
}

/** A written image. */
export interface WrittenImage {
  /** Digest of the index, by which all platforms can be pulled. */
  readonly digest: string
  /** The OCI layout. */
  readonly folder: string
  /** The same as one file. */
  readonly archive: string
}

interface Descriptor {
  readonly mediaType: string
  readonly digest: string
  readonly size: number
}

/** Writes the image to `folder` and `<folder>.tar`, replacing existing files. */
export async function writeOciLayout(
  folder: string,
  reference: string,
  images: readonly PlatformImage[],
  config: RunConfig,
  createdAt: number,
): Promise<WrittenImage> {
  const partial = `${folder}.partial`
  await rm(partial, { recursive: true, force: true })
  await mkdir(join(partial, 'blobs/sha256'), { recursive: true })
  const store = async (mediaType: string, content: Buffer): Promise<Descriptor> => {
    const digest = digestOf(content)
    await writeFile(join(partial, 'blobs/sha256', digest.slice('sha256:'.length)), content)
    return { mediaType, digest, size: content.length }
  }
  const created = new Date(createdAt * 1000).toISOString().replace('.000Z', 'Z')
  const manifests: (Descriptor & { readonly platform: object })[] = []
  for (const image of images) {
    const layers: Descriptor[] = []
    for (const { blob } of image.layers) layers.push(await store(LAYER, blob))
    const manifest = {
      schemaVersion: 2,
      mediaType: MANIFEST,
      config: await store(CONFIG, json(imageConfig(image, config, created))),
      layers,
      annotations: { ...config.labels, 'org.opencontainers.image.created': created },
    }
    const platform = { architecture: architecture(image.platform), os: 'linux' }
    manifests.push({ ...(await store(MANIFEST, json(manifest))), platform })
  }
  const index = { schemaVersion: 2, mediaType: INDEX, manifests, annotations: config.labels }
  const root = await store(INDEX, json(index))
  const name = {
    'org.opencontainers.image.ref.name': reference.split(':').at(-1),
    'io.containerd.image.name': reference,
  }
  await writeFile(join(partial, 'oci-layout'), json({ imageLayoutVersion: '1.0.0' }))
  await writeFile(
    join(partial, 'index.json'),
    json({ schemaVersion: 2, mediaType: INDEX, manifests: [{ ...root, annotations: name }] }),
  )
  await rm(folder, { recursive: true, force: true })
  await rename(partial, folder)
  const archive = `${folder}.tar`
  await create({ cwd: folder, file: `${archive}.partial`, portable: true, mtime: new Date(createdAt * 1000) }, [
    'oci-layout',
    'index.json',
    'blobs',
  ])
  await rename(`${archive}.partial`, archive)
  return { digest: root.digest, folder: basename(folder), archive }
}

function imageConfig({ platform, layers }: PlatformImage, config: RunConfig, created: string): object {
  return {
    created,
    architecture: architecture(platform),
    os: 'linux',
    config: {
      User: config.user,
      Env: Object.entries(config.env).map(([name, value]) => `${name}=${value}`),
      Entrypoint: config.entrypoint,
      WorkingDir: '/',
      Labels: config.labels,
    },
    rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
    history: layers.map(({ createdBy }) => ({ created, created_by: createdBy })),
  }
}

function json(value: object): Buffer {
  return Buffer.from(JSON.stringify(value))
}
