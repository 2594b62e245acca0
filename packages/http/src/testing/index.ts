/** @module Servers for tests, without a socket. */
export { type ScriptedAnswer, ScriptedSender } from './scripted-sender.ts'
