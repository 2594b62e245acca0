/** kubectl's streams into simulated containers. A real cluster's nodes are simulated too, and serve no exec. */
import { findClientBinary } from '@reeve/client-binaries'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { ClientSession } from './support/client-session.ts'

const kubectl = await findClientBinary('kubectl')

const manifest = [
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data: { 'app.ini': 'colour=blue\n' } },
  {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', annotations: { 'simulator.reeve.dev/files': '{"/var/log/a/b.log":"from b\\n"}' } },
    spec: {
      containers: [
        {
          name: 'main',
          image: 'web:1',
          env: [
            { name: 'GREETING', value: 'hello' },
            { name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
          ],
          volumeMounts: [{ name: 'settings', mountPath: '/etc/app' }],
        },
      ],
      volumes: [{ name: 'settings', configMap: { name: 'settings' } }],
    },
  },
]
  .map((object) => JSON.stringify(object))
  .join('\n---\n')

describe.skipIf(kubectl === undefined).each([
  { way: 'a WebSocket', isWebSocket: 'true' },
  { way: 'SPDY', isWebSocket: 'false' },
])('kubectl by $way (skipped without kubectl)', ({ isWebSocket }) => {
  const env = { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: isWebSocket, KUBECTL_PORT_FORWARD_WEBSOCKETS: isWebSocket }
  let session: ClientSession

  beforeAll(async () => {
    session = await ClientSession.open()
    await k(['apply', '-f', '-'], manifest)
    await k(['wait', '--for=condition=Ready', 'pod/web', '--timeout=60s'])
  })
  afterAll(() => session?.close())

  const k = (args: readonly string[], input?: string) => session.run(kubectl ?? '', args, input, env)
  const attempt = (args: readonly string[], input?: string) => session.attempt(kubectl ?? '', args, input, env)

  test('runs programs that show what the pod would see', async () => {
    expect(await k(['exec', 'web', '--', 'echo', 'two  spaces', '&=?'])).toBe('two  spaces &=?\n')
    expect(await k(['exec', 'web', '--', 'cat', '/etc/app/app.ini'])).toBe('colour=blue\n')
    expect(await k(['exec', 'web', '--', 'env'])).toMatch(/^GREETING=hello\nPOD=web$/m)
    expect(await k(['exec', 'web', '--', '/usr/bin/sh', '-c', "ls -R1 '/var/log'"])).toBe(
      '/var/log:\na\n\n/var/log/a:\nb.log\n',
    )
    expect(await k(['exec', '-i', 'web', '--', 'cat'], 'from standard input')).toBe('from standard input')
  })

  test('exits with the exit code of a command', async () => {
    expect(await attempt(['exec', 'web', '--', 'sh', '-c', 'exit 7'])).toMatchObject({
      code: 7,
      stderr: expect.stringContaining('command terminated with exit code 7'),
    })
    expect(await attempt(['exec', 'web', '--', 'bash'])).toMatchObject({
      code: 127,
      stderr: expect.stringContaining('simulated containers only have'),
    })
  })

  test('attaches to a container, whose log it follows', async () => {
    await using attached = session.follow(kubectl ?? '', ['attach', 'web'], env)
    // Only what is logged after the connection arrives, and nothing tells when that is.
    const lines = ['main: started']
    await vi.waitFor(
      async () => {
        lines.push(`line ${lines.length}`)
        await k(['annotate', 'pod/web', '--overwrite', `simulator.reeve.dev/logs=${lines.join('\n')}`])
        expect(attached.output, attached.errors).toContain('line ')
      },
      { timeout: 50_000 },
    )
  })

  test('explains how to have a simulated pod serve a port', async () => {
    const { code, stderr } = await attempt(['port-forward', 'web', ':80'])
    expect(code).toBe(1)
    expect(stderr).toContain('no process listens in it. Let it respond by HTTP with the annotation')
  })

  test('reports a container that does not exist and a pod that is not there', async () => {
    expect((await attempt(['exec', 'web', '-c', 'other', '--', 'env'])).stderr).toContain(
      'container other is not valid',
    )
    expect((await attempt(['exec', 'absent', '--', 'env'])).stderr).toContain('pods "absent" not found')
  })
})
