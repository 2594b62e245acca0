/**
 * Types for the one internal module of undici that is imported by path: the package's entry point also loads fetch,
 * WebSocket, mocks and caches, which takes three times as long.
 */
declare module 'undici/lib/dispatcher/pool.js' {
  import type { Pool } from 'undici'

  const PoolConstructor: typeof Pool
  // biome-ignore lint/style/noDefaultExport: the module is CommonJS, its export arrives as the default.
  export default PoolConstructor
}
