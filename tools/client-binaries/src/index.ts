/** @module The real kubectl and helm, for tests and the demo. */
export { type ClientBinary, findClientBinary, type HelmToTry, helmsToTry } from './find-client-binary.ts'
