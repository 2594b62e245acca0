/** @module A registry in memory, for tests. */
export { FakeRegistry, type FakeRegistryOptions } from './fake-registry.ts'
