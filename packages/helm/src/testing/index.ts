/** @module Helm without helm: for tests of what uses this package. */
export { ChartServer, type ServerLogin } from './chart-server.ts'
export { encodeRelease, type RecordedRelease, releaseSecretName } from './encode-release.ts'
export { type PackedEntry, packChart, packEntries } from './pack-chart.ts'
export { exited, ScriptedProcess } from './scripted-process.ts'
