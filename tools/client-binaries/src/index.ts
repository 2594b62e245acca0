/** @module The real kubectl and helm, for tests and the demo. */
export { type ClientBinary, findClientBinary } from './find-client-binary.ts'
export { type HelmToTry, helmsToTry } from './helms-to-try.ts'
