/** Sends the bytes of a response. */
import type { ServerResponse } from 'node:http'

/** Half of what a socket buffers before it asks its writer to wait. */
const PART_BYTES = 32 * 1024

/**
 * Sends bytes in parts that the socket does not have to buffer.
 *
 * A client may have all of a large response, and send its next request, before Node knows that it was written. Node then
 * pauses the connection, and resets it when more than one TLS record of the request has arrived. API servers send
 * conversions of long lists that way.
 */
export async function sendBytes(response: ServerResponse, bytes: Uint8Array): Promise<void> {
  let sent = 0
  while (bytes.length - sent > PART_BYTES && !response.destroyed) {
    const part = bytes.subarray(sent, sent + PART_BYTES)
    await written(response, part)
    sent += PART_BYTES
  }
  response.end(bytes.subarray(sent))
}

/** Resolves when the part was written, or the connection has ended. */
function written(response: ServerResponse, part: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    response.once('close', resolve)
    response.write(part, () => {
      response.off('close', resolve)
      resolve()
    })
  })
}
