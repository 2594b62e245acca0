/** Unpacks an image the way a container runtime does, to run it in its own root filesystem. */
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { extract } from 'tar'
import { ImageError } from './image-error.ts'
import { architecture, type Platform } from './platform.ts'

interface Descriptor {
  readonly digest: string
  readonly platform?: { readonly architecture: string }
}

/** The configuration of an image, as far as it matters for running it. */
export interface ImageConfig {
  readonly User: string
  readonly Env: readonly string[]
  readonly Entrypoint: readonly string[]
  readonly Labels: Readonly<Record<string, string>>
}

/** An image as files. */
export interface UnpackedImage extends AsyncDisposable {
  /** The root filesystem. */
  readonly root: string
  readonly config: ImageConfig
}

/** Unpacks the layers of an OCI archive for a platform, in order. */
export async function unpackImage(archive: string, platform: Platform): Promise<UnpackedImage> {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-image-root-'))
  const remove = () => rm(folder, { recursive: true, force: true })
  try {
    const layout = join(folder, 'layout')
    const root = join(folder, 'root')
    await mkdir(layout)
    await mkdir(root)
    await extract({ file: archive, cwd: layout })
    // Written by the build: the shapes are known.
    const read = async (digest: string) =>
      JSON.parse(await readFile(join(layout, 'blobs', digest.replace(':', '/')), 'utf8'))
    const top = JSON.parse(await readFile(join(layout, 'index.json'), 'utf8')) as { manifests: readonly Descriptor[] }
    const index = (await read(top.manifests[0]?.digest ?? '')) as { manifests: readonly Descriptor[] }
    const found = index.manifests.find((each) => each.platform?.architecture === architecture(platform))
    if (found === undefined) throw new ImageError(`${archive} has no image for ${platform}`)
    const manifest = (await read(found.digest)) as { config: Descriptor; layers: readonly Descriptor[] }
    for (const { digest } of manifest.layers) {
      await extract({ file: join(layout, 'blobs', digest.replace(':', '/')), cwd: root, preservePaths: true })
    }
    const { config } = (await read(manifest.config.digest)) as { config: ImageConfig }
    return { root, config, [Symbol.asyncDispose]: remove }
  } catch (error) {
    await remove()
    throw error
  }
}
