/** @module The parts of an image build that other tools use: Debian packages, layers and OCI archives. */
export { newestPackages, unpackPackages } from './debian-packages.ts'
export { ALLOCATOR, type ImageDefinition, imageDefinition } from './image-definitions.ts'
export { ImageError } from './image-error.ts'
export { createLayer } from './layer.ts'
export { type RunConfig, writeOciLayout } from './oci-layout.ts'
export { isNative, PLATFORMS, type Platform } from './platform.ts'
