/** @module The real kubectl and helm, for tests and the demo, and charts rendered by it. */
export { type ClientBinary, findClientBinary, type HelmToTry, helmsToTry } from './find-client-binary.ts'
export { parseObjects, type RenderedChart, type RenderOptions, renderChart } from './render-chart.ts'
