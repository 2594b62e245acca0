/** Shared parts of tests over the network: a trusted server, a transport to it, small readers. */
import type { IncomingMessage } from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import {
  type CredentialSource,
  type Credentials,
  type ServerConfig,
  type Transport,
  type TransportRequest,
  UndiciTransport,
  type UndiciTransportOptions,
} from '@reeve/http'
import { createAuthority, type KeyPair, type TestAuthority } from './certificates.ts'
import type { TestServer } from './https-server.ts'

interface ClusterFields {
  readonly source: string
  readonly namespace: string
}

/** An authority and a server certificate that it signed, valid for 127.0.0.1 and `inner.example.com`. */
export interface WireFixture {
  readonly authority: TestAuthority
  readonly pair: KeyPair
  /** Configuration for a server that uses `pair`; also that of a cluster. */
  configOf(server: TestServer, more?: Partial<ServerConfig>): ServerConfig & ClusterFields
}

/** Generates new keys. */
export async function wireFixture(): Promise<WireFixture> {
  const authority = await createAuthority('test authority')
  const pair = await authority.server('inner.example.com')
  return {
    authority,
    pair,
    configOf: (server, more = {}) => ({
      server: server.url,
      source: 'test',
      namespace: 'default',
      trust: trusting(authority.certificate),
      ...more,
    }),
  }
}

/** Trust in one authority. */
export function trusting(certificate: string): ServerConfig['trust'] {
  return { certificateAuthority: { read: async () => certificate } }
}

/** Credentials that never change. */
export function fixed(credentials: Credentials): CredentialSource {
  return { get: async () => credentials, renew: async () => undefined }
}

/** A transport that closes at the end of the test. */
export function transportOf(config: ServerConfig, options: UndiciTransportOptions = {}): Transport & AsyncDisposable {
  const transport = new UndiciTransport(config, options)
  return {
    send: (request) => transport.send(request),
    close: () => transport.close(),
    [Symbol.asyncDispose]: () => transport.close(),
  }
}

/** A GET request. */
export function get(path: string, more: Partial<TransportRequest> = {}): TransportRequest {
  return { method: 'GET', path, headers: { accept: 'application/json' }, ...more }
}

/** A body as text. */
export async function read(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

/** The body of a request as received by the server. */
export async function bodyOf(request: IncomingMessage): Promise<string> {
  return read(request)
}

/** Starts listening on a free port of 127.0.0.1 and returns it. */
export async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // A server that listens on TCP has such an address.
  return (server.address() as AddressInfo).port
}
