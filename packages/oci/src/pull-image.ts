/** Pulls the files of an image into a folder. */
import { type TarCompression, type UnpackOptions, unpackTar } from '@reeve/archives'
import { ownValue } from '@reeve/http'
import type { Descriptor } from './manifest.ts'
import type { RegistryClient, RegistryImage } from './registry-client.ts'
import { RegistryResponseError } from './registry-error.ts'

const COMPRESSIONS: Readonly<Record<string, TarCompression>> = {
  'application/vnd.docker.image.rootfs.diff.tar.gzip': 'gzip',
  'application/vnd.oci.image.layer.v1.tar+gzip': 'gzip',
}

/**
 * Unpacks one layer into `folder`, which must be new and empty, streamed: nothing is stored temporarily.
 *
 * *Errors*: those of the registry and of unpacking; {@link RegistryResponseError} for a layer of another form. When
 * the digest does not match at the end, the content of the folder must not be used: unpack into a temporary one.
 *
 * @example
 * await installFolder({ target, work }, (folder) => pullLayer(registry, image, layer, folder, { signal }))
 */
export async function pullLayer(
  registry: RegistryClient,
  image: RegistryImage,
  layer: Descriptor,
  folder: string,
  options: UnpackOptions = {},
): Promise<void> {
  const compression = ownValue(COMPRESSIONS, layer.mediaType)
  if (compression === undefined) {
    throw new RegistryResponseError(
      `layer of ${image.reference.repository}: ${layer.mediaType} is not supported; build the image with gzip layers`,
    )
  }
  const { signal } = options
  await unpackTar(registry.blob(image, layer, signal ? { signal } : {}), compression, folder, options)
}
