/** @module Servers and proxies with real TLS for the tests of clients. */
export * from './certificates.ts'
export * from './https-server.ts'
export * from './misbehaving-proxy.ts'
export * from './wire.ts'
