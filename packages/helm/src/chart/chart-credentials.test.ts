import type { Secret } from '@reeve/kube'
import { describe, expect, it } from 'vitest'
import { chartCredentials } from './chart-credentials.ts'

function secret(data: Readonly<Record<string, string>>): Secret {
  const encoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')])
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: 'a', name: 'b' },
    data: Object.fromEntries(encoded),
  }
}

const url = 'oci://registry.example.com/charts/web'

describe('chartCredentials', () => {
  it('reads user name, password and certificates', () => {
    const data = { username: 'jane', password: 'hunter2\n', 'ca.crt': 'CA', 'tls.crt': 'CERT', 'tls.key': 'KEY' }
    expect(chartCredentials(secret(data), url)).toEqual({
      username: 'jane',
      password: 'hunter2',
      certificateAuthority: 'CA',
      clientCertificate: 'CERT',
      clientKey: 'KEY',
    })
  })

  it('reads the entry of the host from a pull secret', () => {
    const auth = Buffer.from('jane:a:b').toString('base64')
    const auths = { 'other.example.com': { username: 'x', password: 'y' }, 'registry.example.com': { auth } }
    const docker = secret({ '.dockerconfigjson': JSON.stringify({ auths }) })
    expect(chartCredentials(docker, url)).toEqual({ username: 'jane', password: 'a:b' })
    expect(chartCredentials(docker, 'https://other.example.com/x')).toEqual({ username: 'x', password: 'y' })
    expect(chartCredentials(docker, 'oci://elsewhere.example.com/x')).toEqual({})
  })

  it('names the Secret and never quotes it', () => {
    expect(() => chartCredentials(secret({ '.dockerconfigjson': 'hunter2' }), url)).toThrow(
      /^Secret a\/b: .dockerconfigjson is not a docker config: [^2]*$/,
    )
    expect(() => chartCredentials(secret({ 'tls.crt': 'CERT' }), url)).toThrow('only one of tls.crt and tls.key')
  })
})
