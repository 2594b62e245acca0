/** Lets suites stop and start what runs on the node: they are other processes, which are not its parent. */
import { createServer } from 'node:http'
import { join } from 'node:path'
import type { ComponentName, RealNode } from './start-node.ts'

/** What suites can stop and start. */
export type Controlled = ComponentName | 'kube-apiserver'

/** Where it listens. */
export interface NodeControl extends AsyncDisposable {
  /** A Unix socket. `POST /<component>/stop` kills a component, `POST /<component>/start` starts it again. */
  readonly socket: string
}

/** Serves requests until it is disposed of. */
export async function startNodeControl(node: RealNode, folder: string): Promise<NodeControl> {
  const socket = join(folder, 'control.sock')
  const server = createServer((request, response) => {
    const [, component = '', action = ''] = (request.url ?? '').split('/')
    control(node, component, action).then(
      () => response.end(),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })
  await new Promise<void>((resolve) => server.listen(socket, resolve))
  return {
    socket,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function control(node: RealNode, component: string, action: string): Promise<void> {
  const isStart = action === 'start'
  if (component === 'kube-apiserver') return isStart ? node.cluster.startApiServer() : node.cluster.stopApiServer()
  const process = Object.values(node.processes).find(({ name }) => name === component)
  if (process === undefined) throw new Error(`unknown component ${component}`)
  if (isStart) process.start()
  else await process.stop('SIGKILL')
}
