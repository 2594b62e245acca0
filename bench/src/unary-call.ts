/** gRPC calls with as little around them as possible, so that the driver is measured and not its client. */
import { type ClientHttp2Session, connect } from 'node:http2'
import { createConnection } from 'node:net'

const PREFIX_BYTES = 5

/** A connection to a Unix socket. */
export function connectUnix(socket: string): ClientHttp2Session {
  return connect('http://localhost', { createConnection: () => createConnection(socket) })
}

/** Makes one call. *Errors*: if it does not succeed. */
export function unaryCall(session: ClientHttp2Session, path: string, request: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' }
    const check = ({ 'grpc-status': status, 'grpc-message': message }: Readonly<Record<string, unknown>>) => {
      if (status === '0') resolve()
      else if (status !== undefined) reject(new Error(`${path}: status ${status}: ${message}`))
    }
    const stream = session.request(headers)
    // A failure has its status in the headers, because nothing follows them.
    stream.on('response', check).on('trailers', check).on('error', reject).resume()
    stream.end(framed(request))
  })
}

/** Uncompressed, with its length. */
function framed(message: Uint8Array): Buffer {
  const frame = Buffer.alloc(PREFIX_BYTES + message.byteLength)
  frame.writeUInt32BE(message.byteLength, 1)
  frame.set(message, PREFIX_BYTES)
  return frame
}
