/** @module Read images from registries. */
export * from './docker-config.ts'
export {
  type ImageNameParts,
  type ImageReference,
  isImageReference,
  parseImageReference,
  splitImageName,
} from './image-reference.ts'
export { type Descriptor, type ImageManifest, linuxPlatform, type Platform } from './manifest.ts'
export { pullLayer } from './pull-image.ts'
export * from './registry-client.ts'
export * from './registry-error.ts'
