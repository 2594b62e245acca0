/** @module Talk to a Kubernetes API server. */
export * from './client.ts'
export * from './clock.ts'
export * from './objects.ts'
export * from './resource.ts'
export * from './transport.ts'
