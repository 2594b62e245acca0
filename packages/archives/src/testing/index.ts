/** @module Archives and folders for tests. */
export { inPieces, makeTar, type TarEntry, tarGz } from './make-tar.ts'
export * from './make-zip.ts'
export * from './scratch-folder.ts'
