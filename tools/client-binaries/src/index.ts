/** @module The real kubectl and helm, for tests and the demo, charts rendered by it, and documented commands. */
export { chartExpressions, exposedNames, metricNames } from './chart-expressions.ts'
export { type CrdLifeOptions, crdLife, type Served } from './crd-life.ts'
export { type CommandShell, documentedCommands, openCommandShell } from './documented-commands.ts'
export { BRIEF_CLIENT, type ClientBinary, findClientBinary, type HelmToTry, helmsToTry } from './find-client-binary.ts'
export { type RenderedChart, type RenderOptions, renderChart } from './render-chart.ts'
