import type { DaemonSet } from '@reeve/kube'
import { describe, expect, it } from 'vitest'
import { TenantUnknownError } from '../../../../api/dynakube/tenant-facts.ts'
import type { DynaKubeSpec } from '../../../../api/latest.ts'
import { ANNOTATIONS } from '../../../rendering/annotations.ts'
import { withTemplateHash } from '../../../rendering/template-hash.ts'
import { asReadableYaml, expectGolden, only } from '../../../rendering/testing/golden.ts'
import { KNOWN_STATUS, ownedNames, type RenderParts, rendered, renderInput } from '../../testing/render-input.ts'
import { kspm } from './kspm.ts'

type Template = NonNullable<NonNullable<DynaKubeSpec['templates']>['kspmNodeConfigurationCollector']>

const spec = (
  template: Template = {},
  mappedHostPaths = ['/etc', '/boot'],
  gateway: DynaKubeSpec['activeGate'] = {},
): Partial<DynaKubeSpec> => ({
  kspm: { mappedHostPaths },
  activeGate: { capabilities: ['kubernetes-monitoring'], ...gateway },
  templates: {
    kspmNodeConfigurationCollector: { imageRef: { repository: 'registry.example.com/ncc', tag: '1.2' }, ...template },
  },
})
const render = (given: Partial<DynaKubeSpec>, parts?: RenderParts) => rendered(kspm, renderInput(given, parts))
const daemonSet = (given: Partial<DynaKubeSpec>, parts?: RenderParts) =>
  only<DaemonSet>(render(given, parts), 'DaemonSet').spec
const podOf = (given: Partial<DynaKubeSpec>, parts?: RenderParts) => daemonSet(given, parts)?.template?.spec
const container = (given: Partial<DynaKubeSpec>, parts?: RenderParts) => podOf(given, parts)?.containers[0]

describe('KSPM', () => {
  it.each([
    ['plain', spec(), {}],
    ['without-certificate', spec(), { flags: { 'automatic-tls-certificate': 'false' } }],
    [
      'everything',
      spec(
        {
          labels: { team: 'a' },
          annotations: { team: 'a', [ANNOTATIONS.kspmTokenSecret]: 'mine' },
          nodeSelector: { disk: 'ssd' },
          nodeAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [
              { weight: 1, preference: { matchExpressions: [{ key: 'disk', operator: 'Exists' }] } },
            ],
          },
          tolerations: [{ key: 'dedicated', operator: 'Exists' }],
          args: ['without effect'],
          priorityClassName: 'high',
          env: [
            { name: 'EXTRA', value: 'x' },
            { name: 'KUBERNETES_NODE_ROOT', value: '/mine' },
          ],
          resources: { limits: { cpu: '1' } },
          updateStrategy: { type: 'OnDelete' },
        },
        ['/'],
        { tlsSecretName: 'gateway' },
      ),
      {},
    ],
  ] as readonly (readonly [string, Partial<DynaKubeSpec>, RenderParts])[])(
    '%s matches its golden file',
    async (name, given, parts) => {
      await expectGolden(
        asReadableYaml(render(given, parts)),
        new URL(`../../golden/kspm/${name}.yaml`, import.meta.url),
      )
    },
  )

  it('renders only kinds that it may own', () => {
    const names = (objects: readonly { readonly name?: string | undefined }[]) => objects.map(({ name }) => name).sort()
    expect(names(render(spec()).map(({ object }) => object.metadata))).toEqual(
      names(ownedNames(kspm, renderInput(spec())).map((name) => ({ name }))),
    )
  })

  it.each([
    [{}, 'public.ecr.aws/dynatrace/dynatrace-k8s-node-config-collector:latest'],
    [{ tag: '2' }, 'public.ecr.aws/dynatrace/dynatrace-k8s-node-config-collector:2'],
    [{ repository: 'registry.example.com/ncc' }, 'registry.example.com/ncc:latest'],
  ])('fills up an image that admission would have refused: %j', (imageRef, image) => {
    expect(container(spec({ imageRef }))?.image).toBe(image)
  })

  it('takes a mark of the user for its own, and adds one to other annotations', () => {
    const annotations = { [ANNOTATIONS.templateHash]: 'mine' }
    const [, set] = render(spec({ annotations })).map((wanted) => withTemplateHash(wanted).object)
    expect(set?.metadata.annotations).toEqual(annotations)
    const [, other] = render(spec({ annotations: { team: 'a' } })).map((wanted) => withTemplateHash(wanted).object)
    expect(other?.metadata.annotations).toEqual({
      team: 'a',
      [ANNOTATIONS.templateHash]: expect.stringMatching(/^\d+$/),
    })
  })

  it('is off by default', () => {
    expect(render({ activeGate: { capabilities: ['kubernetes-monitoring'] } })).toEqual([])
  })

  it('waits for the tenant to be known', () => {
    const { oneAgent, activeGate } = KNOWN_STATUS
    const status = {
      oneAgent: { ...oneAgent, connectionInfoStatus: {} },
      activeGate: { ...activeGate, connectionInfoStatus: {} },
    }
    expect(() => render(spec(), { status })).toThrow(TenantUnknownError)
  })

  it('mounts each path of the node once, in order', () => {
    expect(podOf(spec({}, ['/b', '/a', '/a']))?.volumes?.slice(0, 2)).toEqual([
      { name: 'node-path-1', hostPath: { path: '/a', type: 'Directory' } },
      { name: 'node-path-2', hostPath: { path: '/b', type: 'Directory' } },
    ])
    const mounts = container(spec({}, ['/', '/etc/']))?.volumeMounts?.slice(0, 2)
    expect(mounts?.map(({ mountPath, readOnly }) => [mountPath, readOnly])).toEqual([
      ['/node_root', true],
      ['/node_root/etc', true],
    ])
  })

  it('replaces collectors one by one, the new one first', () => {
    expect(daemonSet(spec())?.updateStrategy?.rollingUpdate).toEqual({ maxUnavailable: 0, maxSurge: 1 })
  })

  it('takes limits of the user and keeps its own requests', () => {
    const limits = { cpu: '2', memory: '1Gi' }
    const own = { cpu: '100m', memory: '128Mi' }
    expect(container(spec({ resources: { limits } }))?.resources).toEqual({ limits, requests: own })
    const requests = { cpu: '10m' }
    expect(container(spec({ resources: { requests } }))?.resources).toEqual({ limits: own, requests })
  })

  it('does without a certificate when the gateway has none', () => {
    const parts = { flags: { 'automatic-tls-certificate': 'false' } }
    expect(podOf(spec(), parts)?.volumes?.map(({ name }) => name)).not.toContain('certs')
    expect(container(spec(), parts)?.env?.map(({ name }) => name)).not.toContain('DT_CA_CERTIFICATE_FILE')
  })

  it('runs where the user says', () => {
    const term = { matchExpressions: [{ key: 'disk', operator: 'Exists' }] }
    const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } }
    expect(podOf(spec({ nodeAffinity }))?.affinity).toEqual({ nodeAffinity })
  })
})
