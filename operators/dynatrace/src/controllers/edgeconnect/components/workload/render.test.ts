import type { Deployment, Secret } from '@reeve/kube'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import type { EdgeConnectSpec } from '../../../../api/latest.ts'
import { edgeConnect } from '../../../../api/testing/build.ts'
import { decodeSecret } from '../../../rendering/secret-data.ts'
import { asYaml, expectGolden, only } from '../../../rendering/testing/golden.ts'
import { CONFIG_FILE } from '../../config-secret.ts'
import type { EdgeConnectMaterial } from './config-file.ts'
import { renderEdgeConnect } from './render.ts'

const material: EdgeConnectMaterial = {
  oauthClient: { id: 'dt0s10.A', secret: 'dt0s10.A.B', resource: 'urn:dtenvironment:abc12345' },
  automationToken: 'dt0e01.X.Y',
}
const status = { kubeSystemUID: 'cluster-uid', version: { imageID: 'registry.example.com/edgeconnect:1@sha256:0' } }
const render = (spec: Partial<EdgeConnectSpec> = {}, more: Partial<EdgeConnectMaterial> = {}) =>
  renderEdgeConnect({ edgeConnect: edgeConnect(spec, status), material: { ...material, ...more } })
const config = (spec?: Partial<EdgeConnectSpec>, more?: Partial<EdgeConnectMaterial>) =>
  decodeSecret(only<Secret>(render(spec, more), 'Secret').data)[CONFIG_FILE] ?? ''
const deployment = (spec?: Partial<EdgeConnectSpec>) => only<Deployment>(render(spec), 'Deployment').spec

describe('EdgeConnect', () => {
  it.each([
    ['plain', {}],
    [
      'everything',
      {
        replicas: 2,
        caCertsRef: 'certificates',
        customPullSecret: 'pull',
        kubernetesAutomation: { enabled: true },
        hostRestrictions: ['a.example.com'],
        proxy: { host: 'p.example', port: 3128, noProxy: '*.local', authRef: 'proxy' },
        labels: { team: 'a' },
        annotations: { team: 'a' },
        env: [{ name: 'DEBUG', value: 'true' }],
        nodeSelector: { disk: 'ssd' },
        tolerations: [{ key: 'dedicated', operator: 'Exists' }],
        topologySpreadConstraints: [{ maxSkew: 2, topologyKey: 'rack', whenUnsatisfiable: 'DoNotSchedule' }],
        serviceAccountName: 'mine',
        resources: { limits: { memory: '1Gi' } },
      },
    ],
  ] as readonly (readonly [string, Partial<EdgeConnectSpec>])[])('%s matches its golden file', async (name, spec) => {
    const objects = render(spec, spec.proxy ? { proxyUser: { user: 'u', password: 'p#: w' } } : {})
    await expectGolden(asYaml(objects), new URL(`golden/${name}.yaml`, import.meta.url))
  })

  it('has a file in the documented order and layout', () => {
    expect(
      config({ proxy: { host: 'p.example', port: 3128, noProxy: '*.local' }, kubernetesAutomation: { enabled: true } }),
    ).toBe(
      `name: ec
api_endpoint_host: tenant.apps.dynatrace.com
oauth:
    endpoint: https://sso.example.com/token
    client_id: dt0s10.A
    client_secret: dt0s10.A.B
    resource: urn:dtenvironment:abc12345
root_certificate_paths:
    - /var/run/secrets/kubernetes.io/serviceaccount/ca.crt
proxy:
    server: p.example
    exceptions: '*.local'
    port: 3128
secrets:
    - name: K8S_SERVICE_ACCOUNT_TOKEN
      token: dt0e01.X.Y
      from_file: /var/run/secrets/kubernetes.io/serviceaccount/token
      restrict_hosts_to:
        - kubernetes.default.svc.cluster.local
`,
    )
    expect(Object.keys(parse(config()))).toEqual(['name', 'api_endpoint_host', 'oauth', 'root_certificate_paths'])
  })

  it('names the proxy in full, however little of it is given', () => {
    const { proxy } = parse(config({ proxy: { host: 'p.example' } }))
    expect(proxy).toEqual({ server: 'p.example', exceptions: '', port: 0 })
    expect(Object.keys(parse(config({ hostRestrictions: [] })))).not.toContain('restrict_hosts_to')
  })

  it('keeps credentials as they are given, white space and all', () => {
    const oauthClient = { id: ' id\n', secret: 'secret\n', resource: 'urn' }
    expect(parse(config({}, { oauthClient })).oauth).toMatchObject({ client_id: ' id\n', client_secret: 'secret\n' })
  })

  it('has default requests and limits, each unless the user sets it', () => {
    const resources = (given?: EdgeConnectSpec['resources']) =>
      deployment(given ? { resources: given } : {})?.template?.spec?.containers[0]?.resources
    const usual = { cpu: '100m', memory: '128Mi' }
    expect(resources()).toEqual({ requests: usual, limits: usual })
    expect(resources({})).toEqual({ requests: usual, limits: usual })
    expect(resources({ requests: { cpu: '1' } })).toEqual({ requests: { cpu: '1' }, limits: usual })
  })

  it('quotes what YAML would misread', () => {
    const secret = 'a: "b" # c'
    expect(parse(config({}, { oauthClient: { id: 'true', secret, resource: '0x1' } })).oauth).toEqual({
      endpoint: 'https://sso.example.com/token',
      client_id: 'true',
      client_secret: secret,
      resource: '0x1',
    })
  })

  it('restarts when its configuration changes', () => {
    const hash = (spec: Partial<EdgeConnectSpec>) => deployment(spec)?.template?.metadata?.annotations
    expect(hash({ hostRestrictions: ['a'] })).not.toEqual(hash({}))
  })

  it('takes the last of two variables with one name, as both cannot be applied', () => {
    const twice = [
      { name: 'A', value: '1' },
      { name: 'A', value: '2' },
    ]
    expect(deployment({ env: twice })?.template?.spec?.containers[0]?.env).toEqual([{ name: 'A', value: '2' }])
  })

  it('keeps its own labels', () => {
    expect(deployment({ labels: { 'app.kubernetes.io/name': 'mine' } })?.template?.metadata?.labels).toMatchObject({
      'app.kubernetes.io/name': 'edgeconnect',
    })
  })
})
