import type { ConfigMap, Secret } from '@reeve/kube'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { DynaKubeSpec } from '../../../../api/latest.ts'
import { decodeSecret } from '../../../rendering/secret-data.ts'
import { asReadableYaml, expectGolden, only } from '../../../rendering/testing/golden.ts'
import { type RenderParts, rendered, renderInput } from '../../testing/render-input.ts'
import { InvalidProxyError, proxyParts } from '../tenant/proxy-parts.ts'
import { activeGateConnection } from './active-gate-connection.ts'
import { deploymentMetadata } from './deployment-metadata.ts'
import { oneAgentConnection } from './one-agent-connection.ts'
import { proxySecret } from './proxy-secret.ts'
import { pullSecret } from './pull-secret.ts'

const agent: Partial<DynaKubeSpec> = { oneAgent: { cloudNativeFullStack: {} } }
const gateway: Partial<DynaKubeSpec> = { activeGate: { capabilities: ['routing'] } }

describe('what connects a DynaKube with its tenant', () => {
  const parts = [deploymentMetadata, proxySecret, activeGateConnection, oneAgentConnection, pullSecret]

  it.each([
    ['classic', { oneAgent: { classicFullStack: {} } }, {}],
    ['host-monitoring', { oneAgent: { hostMonitoring: {} } }, {}],
    ['application-monitoring', { oneAgent: { applicationMonitoring: {} } }, {}],
    ['log-monitoring', { logMonitoring: {} }, {}],
    ['active-gate', gateway, {}],
    [
      'everything',
      { ...agent, ...gateway, proxy: { value: 'user:pass%23word@proxy' }, customPullSecret: 'pull' },
      { facts: { proxyUrl: 'user:pass%23word@proxy', paasToken: 'paas-token' } },
    ],
  ] as readonly (readonly [string, Partial<DynaKubeSpec>, RenderParts])[])(
    'by %s matches its golden file',
    async (name, spec, given) => {
      const input = renderInput(spec, given)
      const objects = parts.flatMap((component) => rendered(component, input))
      await expectGolden(asReadableYaml(objects), new URL(`../../golden/connection/${name}.yaml`, import.meta.url))
    },
  )
})

describe('deployment metadata', () => {
  const dataOf = (spec: Partial<DynaKubeSpec>) =>
    only<ConfigMap>(rendered(deploymentMetadata, renderInput(spec)), 'ConfigMap').data

  it('contains the origin of what is deployed', () => {
    const rest = 'script_version=1.8.1;orchestrator_id=cluster-uid'
    expect(dataOf(agent)).toEqual({
      oneagent: `orchestration_tech=Operator-cloud_native_fullstack;${rest}`,
      operator: '1.8.1',
    })
    expect(dataOf(gateway)).toEqual({ activegate: `orchestration_tech=Operator-activegate;${rest}` })
    expect(rendered(deploymentMetadata, renderInput({}))).toEqual([])
  })
})

describe('tenant secrets', () => {
  it('exist for what connects', () => {
    const injected = renderInput({ oneAgent: { applicationMonitoring: {} } })
    const secret = only<Secret>(rendered(oneAgentConnection, injected), 'Secret')
    expect(secret.metadata.name).toBe('dk-oneagent-tenant-secret')
    expect(decodeSecret(secret.data)).toEqual({ 'tenant-token': 'test-token' })
    expect(rendered(oneAgentConnection, renderInput(gateway))).toEqual([])
    expect(rendered(activeGateConnection, renderInput(gateway))).toHaveLength(1)
    expect(rendered(activeGateConnection, renderInput(agent))).toEqual([])
  })
})

describe('the pull secret', () => {
  const config = (parts: RenderParts = {}) => {
    const secret = only<Secret>(
      rendered(pullSecret, renderInput({ ...agent, apiUrl: 'https://h:9999/api' }, parts)),
      'Secret',
    )
    expect(secret.type).toBe('kubernetes.io/dockerconfigjson')
    return decodeSecret(secret.data)['.dockerconfigjson']
  }

  it('uses the registry of the tenant for its images', () => {
    const auth = Buffer.from('abc12345:api-token').toString('base64')
    expect(config()).toBe(`{"auths":{"h:9999":{"username":"abc12345","password":"api-token","auth":"${auth}"}}}`)
  })

  it('prefers the token that is meant for it', () => {
    expect(config({ facts: { paasToken: 'paas' } })).toContain('"password":"paas"')
    expect(config({ facts: { paasToken: '' } })).toContain('"password":"api-token"')
  })

  it('is not needed without images of the tenant', () => {
    expect(rendered(pullSecret, renderInput({ oneAgent: { applicationMonitoring: {} } }))).toEqual([])
  })
})

describe('the proxy', () => {
  it.each([
    ['user:pw@proxy:3128', 'http', 'proxy', '3128', 'user', 'pw'],
    ['HTTPS://us%40er:p%23w@[fd00::1]:3128', 'https', 'fd00::1', '3128', 'us@er', 'p#w'],
    ['http://proxy', 'http', 'proxy', '', '', ''],
    ['http://proxy:80', 'http', 'proxy', '80', '', ''],
    ['http://user@proxy/path', 'http', 'proxy', '', 'user', ''],
  ])('%s is taken apart', (url, scheme, host, port, username, password) => {
    expect(proxyParts(url)).toEqual({ scheme, host, port, username, password })
  })

  it('can be put together again', () => {
    const text = fc.string({ minLength: 1 })
    fc.assert(
      fc.property(text, text, fc.domain(), fc.integer({ min: 1, max: 65535 }), (username, password, host, port) => {
        const url = `https://${encodeURIComponent(username)}:${encodeURIComponent(password)}@${host}:${port}`
        expect(proxyParts(url)).toEqual({ scheme: 'https', host, port: String(port), username, password })
      }),
    )
  })

  it.each(['http://', 'http://user:pa%ss@proxy', 'http://pro xy', ''])('refuses %j without showing it', (url) => {
    expect(() => proxyParts(url)).toThrow(InvalidProxyError)
    expect(() => proxyParts(url)).not.toThrow(/pa%ss/)
  })

  it('is written to a Secret unless all components ignore it', () => {
    const spec = { ...agent, proxy: { value: 'proxy:3128' } }
    const facts = { proxyUrl: 'proxy:3128' }
    const secret = only<Secret>(rendered(proxySecret, renderInput(spec, { facts })), 'Secret')
    expect(Object.keys(secret.data ?? {}).sort()).toEqual(['host', 'password', 'port', 'scheme', 'username'])
    const flags = { 'oneagent-ignore-proxy': 'true', 'activegate-ignore-proxy': 'true' }
    expect(rendered(proxySecret, renderInput(spec, { flags, facts }))).toEqual([])
  })
})
