/** @module Servers for tests, without a socket. */
export { readScript, type Script } from './read-script.ts'
export { type ScriptedResponse, ScriptedSender } from './scripted-sender.ts'
export * from './simulated-clock.ts'
