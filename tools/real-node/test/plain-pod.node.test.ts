import { SHELL_IMAGE } from '@reeve/real-node'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { apply, kubectl, podReady, responseOf } from './support/kubectl.ts'

const namespace = 'plain'

beforeAll(() => kubectl('create', 'namespace', namespace))
afterAll(() => kubectl('delete', 'namespace', namespace))

it('the node runs a pod that serves HTTP through a Service, by the name of the Service', async () => {
  await apply(
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'server', namespace, labels: { app: 'server' } },
      spec: {
        containers: [
          {
            name: 'server',
            image: SHELL_IMAGE,
            command: ['sh', '-c', 'echo hello > /tmp/index.html; exec httpd -f -p 8080 -h /tmp'],
            securityContext: { runAsUser: 0 },
            readinessProbe: { httpGet: { path: '/', port: 8080 }, periodSeconds: 1 },
          },
        ],
        terminationGracePeriodSeconds: 1,
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'server', namespace },
      spec: { selector: { app: 'server' }, ports: [{ port: 80, targetPort: 8080 }] },
    },
  )
  await podReady(namespace, 'server')
  const url = `http://server.${namespace}.svc.cluster.local/`
  expect(await responseOf(url, { namespace, pod: 'server' })).toBe('hello\n')
})
