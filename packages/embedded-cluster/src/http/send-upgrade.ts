/** Writes the response to an upgrade request, and connects the two ends when it was accepted. */
import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { ServerResponse } from './exchange.ts'

/** `head` is what the client sent after its request. A response other than 101 ends the connection. */
export async function sendUpgrade(socket: Duplex, head: Buffer, answer: ServerResponse): Promise<void> {
  const { status, socket: session } = answer
  const body: Uint8Array[] = []
  for await (const chunk of answer.body) body.push(chunk)
  const content = Buffer.concat(body)
  const headers = Object.entries(answer.headers).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((one) => `${name}: ${one}`),
  )
  if (session === undefined) headers.push(`content-length: ${content.length}`, 'connection: close')
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${headers.join('\r\n')}\r\n\r\n`)
  if (session === undefined) {
    socket.end(content)
    return
  }
  if (head.length > 0) session.write(head)
  session.on('error', () => socket.destroy())
  socket.on('close', () => session.destroy())
  socket.pipe(session).pipe(socket)
}
