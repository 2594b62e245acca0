/** @module Read images, and charts, from registries. */
export { digestOf } from './digest.ts'
export * from './docker-config.ts'
export {
  type ImageNameParts,
  type ImageReference,
  imageReference,
  parseImageReference,
  splitImageName,
} from './image-reference.ts'
export { type Descriptor, type ImageManifest, linuxPlatform, type Platform } from './manifest.ts'
export { pullLayer } from './pull-image.ts'
export * from './registry-client.ts'
export * from './registry-error.ts'
export type { PlainHttp } from './registry-host.ts'
export type { RegistryCallOptions } from './registry-sessions.ts'
