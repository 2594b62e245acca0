/** @module Support for tests of command lines. */
export {
  type CapturedProcess,
  type CapturedRun,
  runCaptured,
  type StartedProcess,
  startCaptured,
} from './captured-process.ts'
export { type RunWithoutServer, runWithoutServer } from './without-server.ts'
