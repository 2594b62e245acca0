/** @module What tests of command lines need. */
export { type CapturedProcess, type CapturedRun, runCaptured } from './captured-process.ts'
