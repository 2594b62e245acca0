/** Failures of the node itself: components that are killed and started again. */
import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Controlled } from '@reeve/real-node'

/** Kills a component; resolves when it has exited. */
export function stopComponent(name: Controlled): Promise<void> {
  return control(`/${name}/stop`)
}

/** Starts a component again. For the API server, resolves when it is ready. */
export function startComponent(name: Controlled): Promise<void> {
  return control(`/${name}/start`)
}

/** Kills a component and starts it again, as the service manager of a node does. */
export async function restartComponent(name: Controlled): Promise<void> {
  await stopComponent(name)
  await startComponent(name)
}

async function control(path: string): Promise<void> {
  const socketPath = process.env.REEVE_NODE_CONTROL ?? ''
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const sent = request({ socketPath, path, method: 'POST' }, (response) => {
    text(response).then((body) => (response.statusCode === 200 ? resolve() : reject(new Error(body))), reject)
  })
  sent.once('error', reject)
  sent.end()
  await promise
}
