/** @module Unpack archives from untrusted sources. Writing them is in `@reeve/archives/zip-writer`. */
export * from './archive-error.ts'
export { type Batch, batches } from './batches.ts'
export { type InstallFolderOptions, installFolder } from './install-folder.ts'
export { releaseMemory } from './release-memory.ts'
export * from './unpack-options.ts'
export { type TarCompression, unpackTar } from './unpack-tar.ts'
export { unpackZip } from './unpack-zip.ts'
