/** The HTTPS endpoint from which the API server reads container logs. */
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { createCertificateAuthority } from '../certificates.ts'

/** Identifies one container of one pod. */
export interface ContainerName {
  readonly namespace: string
  readonly pod: string
  readonly container: string
}

/** The log of a container, or `undefined` if there is no such container. */
export type LogSource = (name: ContainerName) => string | undefined

export interface KubeletServer {
  readonly port: number
  close(): Promise<void>
}

/** Serves `/containerLogs/<namespace>/<pod>/<container>` on loopback; anything else responds 404. */
export async function startKubeletServer(logs: LogSource): Promise<KubeletServer> {
  const authority = await createCertificateAuthority('reeve-simulated-nodes')
  const { cert, key } = await authority.issueServer('kubelet', ['localhost', '127.0.0.1'])
  const server = createServer({ cert, key }, (request, response) => {
    const url = new URL(request.url ?? '/', 'https://kubelet')
    const [route, namespace, pod, container] = url.pathname.split('/').slice(1).map(decodeURIComponent)
    const text =
      route === 'containerLogs' && namespace && pod && container ? logs({ namespace, pod, container }) : undefined
    response.statusCode = text === undefined ? 404 : 200
    response.setHeader('content-type', 'text/plain')
    response.end(text === undefined ? 'not found\n' : tail(text, url.searchParams.get('tailLines')))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    // A server that listens on TCP has an AddressInfo.
    port: (server.address() as AddressInfo).port,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function tail(text: string, count: string | null): string {
  if (count === null) return text
  const lines = text.replace(/\n$/, '').split('\n').slice(-Number(count))
  return Number(count) === 0 || text === '' ? '' : `${lines.join('\n')}\n`
}
