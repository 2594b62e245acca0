/** Exec plugins: real child processes, simulated time. */

import { SimulatedClock } from '@reeve/http/testing'
import { describe, expect, it } from 'vitest'
import { CredentialsError } from '../errors.ts'
import { type TemporaryDirectory, temporaryDirectory } from '../testing/temporary-directory.ts'
import { findConfig } from './load-config.ts'

const V1 = 'client.authentication.k8s.io/v1'

interface Plugin {
  /** Shell script; `$DIR` is the directory of the kubeconfig. */
  readonly script: string
  readonly exec?: string
  readonly clock?: SimulatedClock
}

async function credentialsOf(
  directory: TemporaryDirectory,
  { script, exec = '', clock = new SimulatedClock() }: Plugin,
) {
  await directory.write('plugin.sh', `#!/bin/sh\nDIR='${directory.path}'\n${script}\n`, { mode: 0o755 })
  const kubeconfig = await directory.write(
    'config',
    `current-context: a
contexts: [{name: a, context: {cluster: b, user: c}}]
clusters:
- name: b
  cluster:
    server: https://b.example.com
    tls-server-name: inner
    extensions: [{name: client.authentication.k8s.io/exec, extension: {audience: x}}]
users:
- name: c
  user:
    exec: {apiVersion: ${V1}, command: ./plugin.sh, interactiveMode: IfAvailable${exec}}
`,
  )
  const config = await findConfig({ kubeconfig, clock, env: { PATH: process.env.PATH, INHERITED: 'yes' } })
  if (config.credentials === undefined) throw new Error('no credentials')
  return config.credentials
}

const print = (status: string, apiVersion = V1) =>
  `echo '{"apiVersion":"${apiVersion}","kind":"ExecCredential","status":${status}}'`
const counted = (expiry = '') =>
  `echo run >> $DIR/runs; N=$(wc -l < $DIR/runs | tr -d ' '); echo '{"apiVersion":"${V1}","kind":"ExecCredential","status":{"token":"t'$N'"${expiry}}}'`
const expiresAt = (ms: number) => `,"expirationTimestamp":"${new Date(ms).toISOString()}"`

describe('exec plugins', () => {
  it('give a token, asked with the protocol and the environment of the kubeconfig', async () => {
    await using directory = await temporaryDirectory()
    const source = await credentialsOf(directory, {
      script: `echo "$KUBERNETES_EXEC_INFO" > $DIR/info; echo "$1 $EXTRA $INHERITED" > $DIR/args; ${print('{"token":"abc"}')}`,
      exec: ', args: [get-token], env: [{name: EXTRA, value: more}], provideClusterInfo: true',
    })
    expect(await source.get()).toEqual({ authorization: 'Bearer abc' })
    const { readFile } = await import('node:fs/promises')
    expect(JSON.parse(await readFile(`${directory.path}/info`, 'utf8'))).toEqual({
      apiVersion: V1,
      kind: 'ExecCredential',
      spec: {
        interactive: false,
        cluster: { server: 'https://b.example.com', 'tls-server-name': 'inner', config: { audience: 'x' } },
      },
    })
    expect(await readFile(`${directory.path}/args`, 'utf8')).toBe('get-token more yes\n')
  })

  it('return a client certificate', async () => {
    await using directory = await temporaryDirectory()
    const script = print('{"clientCertificateData":"the certificate","clientKeyData":"the key"}')
    const source = await credentialsOf(directory, { script })
    expect(await source.get()).toEqual({ clientCertificate: { certificate: 'the certificate', key: 'the key' } })
  })

  it('run once for many callers and not again before the credentials expire', async () => {
    await using directory = await temporaryDirectory()
    const clock = new SimulatedClock()
    const script = counted(expiresAt(clock.now() + 600_000))
    const source = await credentialsOf(directory, { script, clock })
    const [a, b] = await Promise.all([source.get(), source.get()])
    expect(a).toBe(b)
    await clock.advance(569_000)
    expect(await source.get()).toEqual({ authorization: 'Bearer t1' })
    await clock.advance(1_000)
    expect(await source.get()).toEqual({ authorization: 'Bearer t2' })
  })

  it('run again when the server rejects the credentials, but not in a loop', async () => {
    await using directory = await temporaryDirectory()
    const clock = new SimulatedClock()
    const source = await credentialsOf(directory, { script: counted(), clock })
    const first = await source.get()
    expect(await source.renew(first)).toBeUndefined()
    await clock.advance(5_000)
    const second = await source.renew(first)
    expect(second).toEqual({ authorization: 'Bearer t2' })
    expect(await source.renew(first)).toBe(second)
  })

  it('are stopped at their deadline', async () => {
    await using directory = await temporaryDirectory()
    const clock = new SimulatedClock()
    const source = await credentialsOf(directory, { script: 'exec sleep 600', clock })
    const getting = source.get().catch(String)
    await clock.advance(60_000)
    expect(await getting).toMatch(/plugin.sh did not finish within 60000 ms and was stopped/)
  })

  it('do not block a caller that aborts', async () => {
    await using directory = await temporaryDirectory()
    const clock = new SimulatedClock()
    const source = await credentialsOf(directory, { script: 'exec sleep 600', clock })
    const reason = new Error('enough')
    const controller = new AbortController()
    const impatient = source.get(controller.signal).catch((error: unknown) => error)
    const patient = source.get().catch(String)
    controller.abort(reason)
    expect(await impatient).toBe(reason)
    await clock.advance(60_000)
    expect(await patient).toContain('was stopped')
  })

  it.each([
    ['exit 3', 'failed with exit code 3'],
    ['kill -9 $$', 'failed with signal SIGKILL'],
    ['echo hunter2', 'did not print a JSON object'],
    ['echo \'{"kind":"Secret","hunter2":1}\'', 'did not print an ExecCredential'],
    [
      print('{"token":"hunter2"}', 'client.authentication.k8s.io/v1beta1'),
      `did not respond in the requested apiVersion ${V1}`,
    ],
    [print('null'), 'returned no status'],
    [print('{"expirationTimestamp":"2030-01-01T00:00:00Z"}'), 'returned neither a token nor a certificate'],
    [print('{"token":"hunter2","clientKeyData":"hunter2"}'), 'returned a certificate without its key'],
    [print('{"token":"hunter2","expirationTimestamp":"soon"}'), 'is not a time'],
    [print('{"token":["hunter2"]}'), 'returned a status.token that is not a string'],
    [print('{"token":"hunter2\\\\nX-Injected: 1"}'), 'characters that an HTTP header may not'],
    ['head -c 2000000 /dev/zero', 'printed more than 1048576 bytes'],
  ])('that fail (%s) are named without quoting their output', async (script, message) => {
    await using directory = await temporaryDirectory()
    const error = await (await credentialsOf(directory, { script })).get().catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(CredentialsError)
    expect(String(error)).toContain(message)
    expect(String(error)).not.toContain('hunter2')
  })

  it('that are not installed are named together with the hint', async () => {
    await using directory = await temporaryDirectory()
    const kubeconfig = await directory.write(
      'config',
      `{"current-context":"a","contexts":[{"name":"a","context":{"cluster":"b","user":"c"}}],"clusters":[{"name":"b","cluster":{"server":"https://b"}}],
"users":[{"name":"c","user":{"exec":{"apiVersion":"${V1}","command":"no-such-plugin","installHint":"install it from example.com"}}}]}`,
    )
    const { credentials } = await findConfig({ kubeconfig, env: { PATH: '/nowhere' } })
    await expect(credentials?.get()).rejects.toThrow(
      `${kubeconfig}: users[c].user.exec: no-such-plugin could not be started (ENOENT); install it from example.com`,
    )
  })
})
