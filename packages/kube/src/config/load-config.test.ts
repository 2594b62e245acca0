/** Sources of the configuration, and errors. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { SimulatedClock } from '@reeve/http/testing'
import { describe, expect, it } from 'vitest'
import { ConfigError, CredentialsError } from '../errors.ts'
import { type TemporaryDirectory, temporaryDirectory } from '../testing/temporary-directory.ts'
import { findConfig, type LoadConfigOptions } from './load-config.ts'

const base64 = (text: string) => Buffer.from(text).toString('base64')

interface Parts {
  readonly cluster?: string
  readonly user?: string
  readonly name?: string
  readonly currentContext?: string
}

function kubeconfig({ cluster = '', user = '', name = 'dev', currentContext = name }: Parts = {}): string {
  return `apiVersion: v1
kind: Config
current-context: ${currentContext}
contexts:
- name: ${name}
  context: {cluster: ${name}, user: ${name}, namespace: shop}
clusters:
- name: ${name}
  cluster:
    server: https://${name}.example.com:6443/prefix/
${indent(cluster)}
users:
- name: ${name}
  user:
${user === '' ? '    {}' : indent(user)}
`
}

function indent(text: string): string {
  return text
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n')
}

/** Isolates the tests from the configuration of the machine. */
function isolated(directory: TemporaryDirectory, more: LoadConfigOptions = {}): LoadConfigOptions {
  const nowhere = join(directory.path, 'nowhere')
  return { env: {}, homeDirectory: nowhere, serviceAccountDirectory: nowhere, clock: new SimulatedClock(), ...more }
}

async function load(directory: TemporaryDirectory, parts: Parts, more: LoadConfigOptions = {}) {
  return findConfig(isolated(directory, { kubeconfig: await directory.write('config', kubeconfig(parts)), ...more }))
}

async function problem(directory: TemporaryDirectory, parts: Parts, more: LoadConfigOptions = {}): Promise<string> {
  const error = await load(directory, parts, more).catch((reason: unknown) => reason)
  expect(error instanceof ConfigError || error instanceof CredentialsError).toBe(true)
  return String(error).replace(directory.path, '')
}

describe('kubeconfig', () => {
  it('resolves the current context', async () => {
    await using directory = await temporaryDirectory()
    const config = await load(directory, {
      cluster: 'tls-server-name: inner\ndisable-compression: true',
      user: 'token: abc',
    })
    expect(config?.disableCompression).toBe(true)
    expect(config).toMatchObject({
      server: 'https://dev.example.com:6443/prefix',
      namespace: 'shop',
      trust: { serverName: 'inner' },
    })
    expect(config.source).toBe(`context "dev" of ${directory.path}/config`)
    expect(await config.credentials?.get()).toEqual({ authorization: 'Bearer abc' })
  })

  it('reads files relative to itself, and prefers inline data to files', async () => {
    await using directory = await temporaryDirectory()
    await directory.write('ca.pem', 'the authority')
    await directory.write('key.pem', 'the key')
    const config = await load(directory, {
      cluster: 'certificate-authority: ca.pem',
      user: `client-certificate-data: ${base64('the certificate')}\nclient-certificate: missing.pem\nclient-key: ./key.pem`,
    })
    expect(await config.trust.certificateAuthority?.read()).toBe('the authority')
    expect(await config.credentials?.get()).toEqual({
      clientCertificate: { certificate: 'the certificate', key: 'the key' },
    })
  })

  it('prefers a token file to a token, and reads it again after a 401', async () => {
    await using directory = await temporaryDirectory()
    await directory.write('token', 'one')
    const { credentials } = await load(directory, { user: 'token: static\ntokenFile: token' })
    const first = (await credentials?.get()) ?? {}
    expect(first.authorization).toBe('Bearer one')
    expect(await credentials?.renew(first)).toBeUndefined()
    await directory.write('token', 'two')
    expect(await credentials?.renew(first)).toEqual({ authorization: 'Bearer two' })
  })

  it('supports user names, passwords and impersonation', async () => {
    await using directory = await temporaryDirectory()
    const config = await load(directory, {
      user: 'username: jane\npassword: "s:x"\nas: joe\nas-uid: "7"\nas-groups: [dev]\nas-user-extra: {scope: [a, b]}',
    })
    expect(await config.credentials?.get()).toEqual({ authorization: `Basic ${base64('jane:s:x')}` })
    expect(config.impersonate).toEqual({ user: 'joe', uid: '7', groups: ['dev'], extra: { scope: ['a', 'b'] } })
  })

  it('does not require credentials', async () => {
    await using directory = await temporaryDirectory()
    expect((await load(directory, {})).credentials).toBeUndefined()
  })

  it('prefers the proxy of the cluster to that of the environment', async () => {
    await using directory = await temporaryDirectory()
    const env = { HTTPS_PROXY: 'http://outer:1' }
    expect((await load(directory, { cluster: 'proxy-url: socks5://inner:2' }, { env })).proxyUrl).toBe(
      'socks5://inner:2',
    )
    expect((await load(directory, {}, { env })).proxyUrl).toBe('http://outer:1')
  })

  it('supports JSON', async () => {
    await using directory = await temporaryDirectory()
    const text = JSON.stringify({
      'current-context': 'a',
      contexts: [{ name: 'a', context: { cluster: 'b' } }],
      clusters: [{ name: 'b', cluster: { server: 'http://localhost:8080' } }],
    })
    const config = await findConfig(isolated(directory, { kubeconfig: await directory.write('config', text) }))
    expect(config).toMatchObject({ server: 'http://localhost:8080', namespace: 'default' })
  })
})

describe('precedence', () => {
  it('merges the files of KUBECONFIG, where the first definition wins and missing files are skipped', async () => {
    await using directory = await temporaryDirectory()
    const first = await directory.write('a', kubeconfig({ user: 'token: one', currentContext: '""' }))
    const second = await directory.write('b', kubeconfig({ user: 'token: two' }))
    const third = await directory.write('c', kubeconfig({ name: 'prod', user: 'token: three' }))
    const env = { KUBECONFIG: `${first}:${directory.path}/missing:${second}:${third}` }
    const config = await findConfig(isolated(directory, { env }))
    expect(config.server).toContain('dev.example.com')
    expect(await config.credentials?.get()).toEqual({ authorization: 'Bearer one' })
    const other = await findConfig(isolated(directory, { env, context: 'prod' }))
    expect(await other.credentials?.get()).toEqual({ authorization: 'Bearer three' })
  })

  it('prefers the argument to KUBECONFIG, KUBECONFIG to the service account, and that to the home directory', async () => {
    await using directory = await temporaryDirectory()
    await mkdir(join(directory.path, '.kube'))
    await directory.write('.kube/config', kubeconfig({ name: 'home' }))
    await directory.write('token', 'mounted')
    await directory.write('ca.crt', 'authority')
    await directory.write('namespace', 'operators\n')
    const pod = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' }
    const places = { homeDirectory: directory.path, serviceAccountDirectory: directory.path }
    const listed = { ...pod, KUBECONFIG: await directory.write('listed', kubeconfig({ name: 'listed' })) }
    const kubeconfigPath = await directory.write('given', kubeconfig({ name: 'given' }))
    const server = async (more: LoadConfigOptions) =>
      (await findConfig(isolated(directory, { ...places, ...more }))).server
    expect(await server({ env: listed, kubeconfig: kubeconfigPath })).toContain('given')
    expect(await server({ env: listed })).toContain('listed')
    expect(await server({ env: pod })).toBe('https://[fd00::1]:443')
    expect(await server({ env: pod, context: 'home' })).toContain('home')
    expect(await server({ env: {} })).toContain('home')
  })

  it('reads token, authority and namespace from the service account, and follows changes of the token', async () => {
    await using directory = await temporaryDirectory()
    await directory.write('token', 'one')
    await directory.write('ca.crt', 'authority')
    await directory.write('namespace', 'operators\n')
    const clock = new SimulatedClock()
    const env = { KUBERNETES_SERVICE_HOST: '10.96.0.1', KUBERNETES_SERVICE_PORT: '443' }
    const config = await findConfig(isolated(directory, { env, clock, serviceAccountDirectory: directory.path }))
    expect(config).toMatchObject({ server: 'https://10.96.0.1:443', namespace: 'operators' })
    expect(await config.trust.certificateAuthority?.read()).toBe('authority')
    await directory.write('token', 'two')
    expect(await config.credentials?.get()).toEqual({ authorization: 'Bearer one' })
    await clock.advance(60_000)
    expect(await config.credentials?.get()).toEqual({ authorization: 'Bearer two' })
  })

  it('lists the searched places when nothing is found', async () => {
    await using directory = await temporaryDirectory()
    await expect(findConfig(isolated(directory))).rejects.toThrow(
      /set KUBECONFIG, create .*nowhere\/.kube\/config, or run in a pod/,
    )
    const env = { KUBECONFIG: '/missing/a:/missing/b' }
    await expect(findConfig(isolated(directory, { env }))).rejects.toThrow(
      'files that do not exist: /missing/a, /missing/b',
    )
    await expect(findConfig(isolated(directory, { kubeconfig: '/missing/a' }))).rejects.toThrow(
      '/missing/a: cannot read the kubeconfig (ENOENT)',
    )
  })
})

describe('errors in a kubeconfig', () => {
  it.each<[string, Parts, LoadConfigOptions]>([
    ['/config: context "nope" does not exist; there are: dev', {}, { context: 'nope' }],
    ['/config: current-context is not set', { currentContext: '""' }, {}],
    [
      '/config: clusters[dev].cluster has both insecure-skip-tls-verify and a certificate authority',
      { cluster: 'insecure-skip-tls-verify: true\ncertificate-authority: x' },
      {},
    ],
    [
      '/config: clusters[dev].cluster.insecure-skip-tls-verify must be true or false',
      { cluster: 'insecure-skip-tls-verify: "yes"' },
      {},
    ],
    [
      '/config: clusters[dev].cluster.certificate-authority-data is not base64',
      { cluster: 'certificate-authority-data: "***"' },
      {},
    ],
    ['/config: clusters[dev].cluster.proxy-url must be a URL with', { cluster: 'proxy-url: ftp://x' }, {}],
    ['/config: users[dev].user.token must be a string', { user: 'token: 12345' }, {}],
    ['/config: users[dev].user needs both a client certificate and a client key', { user: 'client-key: x' }, {}],
    ['/config: users[dev].user.username is missing', { user: 'password: x' }, {}],
    ['/config: users[dev].user.as is missing', { user: 'as-groups: [dev]' }, {}],
    ['/config: users[dev].user.auth-provider "oidc" is not supported', { user: 'auth-provider: {name: oidc}' }, {}],
    ['/config: users[dev].user.exec.command is missing', { user: 'exec: {apiVersion: x}' }, {}],
    [
      '/config: users[dev].user.exec.apiVersion "client.authentication.k8s.io/v1alpha1" is not supported',
      { user: 'exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: x}' },
      {},
    ],
    [
      '/config: users[dev].user.exec.interactiveMode is Always',
      { user: 'exec: {apiVersion: client.authentication.k8s.io/v1, command: x, interactiveMode: Always}' },
      {},
    ],
  ])('%s', async (message, parts, more) => {
    await using directory = await temporaryDirectory()
    expect(await problem(directory, parts, more)).toContain(message)
  })

  it('names the context whose cluster or user is missing', async () => {
    await using directory = await temporaryDirectory()
    const text = 'current-context: a\ncontexts: [{name: a, context: {cluster: b, user: c}}]\n'
    const cluster = 'clusters: [{name: b, cluster: {server: "https://x"}}]\n'
    const broken = async (content: string) =>
      String(
        await findConfig(isolated(directory, { kubeconfig: await directory.write('config', content) })).catch(String),
      )
    expect(await broken(text)).toContain('contexts[a].context.cluster "b" does not exist; there are: none')
    expect(await broken(text + cluster)).toContain('contexts[a].context.user "c" does not exist')
    expect(await broken(`${text}clusters: [{name: b, cluster: {}}]\nusers: [{name: c}]`)).toContain(
      'clusters[b].cluster.server is missing',
    )
    expect(await broken('clusters: [{name: b}, {name: b}]')).toContain('two entries named "b"')
    expect(await broken('[]')).toContain('must be a mapping')
  })

  it('reports the line of a YAML error without quoting it', async () => {
    await using directory = await temporaryDirectory()
    const message = await problem(directory, { user: 'token: "hunter2\nother: : x' })
    expect(message).toMatch(/\/config: not valid YAML at line \d+ \([A-Z_]+\)/)
    expect(message).not.toContain('hunter2')
  })

  it('rejects an alias without its anchor, without quoting it', async () => {
    await using directory = await temporaryDirectory()
    const message = await problem(directory, { user: 'token: *hunter2' })
    expect(message).toBe('ConfigError: /config: its YAML aliases cannot be resolved; write the values out')
  })
})
