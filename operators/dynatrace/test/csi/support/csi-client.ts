/** A client of the driver that shares no code with it: messages by protobufjs, calls by gRPC. */
import { fileURLToPath } from 'node:url'
import { Client, credentials, type ServiceError } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'

const protoFile = (name: string) => fileURLToPath(new URL(name, import.meta.url))
const PROTO = [protoFile('csi.proto'), protoFile('registration.proto')]

/** How a call ended: a response, or the code and text of its failure. */
export type Outcome = { readonly response: unknown } | { readonly code: number; readonly details: string }

/** A connection to a socket. */
export interface CsiClient extends Disposable {
  /** Calls a method such as `csi.v1.Identity/Probe`. */
  call(method: string, request?: object): Promise<Outcome>
}

/** Connects to a socket. */
export function csiClient(socket: string): CsiClient {
  const definition = loadSync(PROTO, { keepCase: true, longs: Number, defaults: false })
  const client = new Client(`unix:${socket}`, credentials.createInsecure())
  return {
    call(method, request = {}) {
      const [service = '', name = ''] = method.split('/')
      const called = Object.entries(definition[service] ?? {}).find(([known]) => known === name)?.[1]
      if (called === undefined) throw new Error(`there is no ${method}`)
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
