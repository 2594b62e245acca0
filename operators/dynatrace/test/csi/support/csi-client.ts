/** A client of the driver that shares no code with it: messages by protobufjs, calls by gRPC. */
import { fileURLToPath } from 'node:url'
import { Client, credentials, loadPackageDefinition, type ServiceError } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'

const PROTO = fileURLToPath(new URL('csi.proto', import.meta.url))

/** How a call ended: a response, or the code and text of its failure. */
export type Outcome = { readonly response: unknown } | { readonly code: number; readonly details: string }

/** A connection to a socket. */
export interface CsiClient extends Disposable {
  call(service: 'Identity' | 'Node' | 'Controller', method: string, request?: object): Promise<Outcome>
}

/** Connects to a socket. */
export function csiClient(socket: string): CsiClient {
  const definition = loadSync(PROTO, { keepCase: true, longs: Number, defaults: false })
  const loaded = loadPackageDefinition(definition)
  const client = new Client(`unix:${socket}`, credentials.createInsecure())
  if (!('csi' in loaded)) throw new Error('the definition has no package csi')
  return {
    call(service, method, request = {}) {
      const definitions = definition[`csi.v1.${service}`]
      const called = definitions && Object.entries(definitions).find(([name]) => name === method)?.[1]
      if (called === undefined) throw new Error(`there is no ${service}.${method}`)
      const { path, requestSerialize, responseDeserialize } = called
      const deadline = Date.now() + 30_000
      return new Promise((resolve) => {
        client.makeUnaryRequest(
          path,
          requestSerialize,
          responseDeserialize,
          request,
          { deadline },
          (error: ServiceError | null, response: unknown) =>
            resolve(error ? { code: error.code, details: error.details } : { response }),
        )
      })
    },
    [Symbol.dispose]: () => client.close(),
  }
}
