import type { Deployment, Secret, StatefulSet } from '@reeve/kube'
import { describe, expect, it } from 'vitest'
import type { DynaKubeSpec } from '../../../../api/latest.ts'
import { ReferenceNotFoundError } from '../../../references/reference-error.ts'
import { ANNOTATIONS } from '../../../rendering/annotations.ts'
import { decodeSecret } from '../../../rendering/secret-data.ts'
import { asYaml, expectGolden, only } from '../../../rendering/testing/golden.ts'
import { KNOWN_STATUS, type RenderParts, rendered, renderInput } from '../../testing/render-input.ts'
import { extensionController } from './controller.ts'
import { databaseExecutors } from './database-executors.ts'
import { extensions } from './extensions.ts'

type Template = NonNullable<NonNullable<DynaKubeSpec['templates']>['extensionExecutionController']>
type Database = NonNullable<NonNullable<DynaKubeSpec['extensions']>['databases']>[number]

const image = (name: string, tag = '1.2.3') => ({ repository: `registry.example.com/${name}`, tag })
const prometheus = (template: Template = {}): Partial<DynaKubeSpec> => ({
  extensions: { prometheus: {} },
  templates: { extensionExecutionController: { imageRef: image('eec'), ...template } },
})
const databases = (database: Partial<Database> = {}, tag = '1.2.3'): Partial<DynaKubeSpec> => ({
  extensions: { databases: [{ id: 'oracle', ...database }] },
  templates: {
    extensionExecutionController: { imageRef: image('eec') },
    sqlExtensionExecutor: { imageRef: image('sql', tag) },
  },
})
const NEAR_DATABASE = {
  weight: 1,
  preference: { matchExpressions: [{ key: 'zone', operator: 'In', values: ['a'] }] },
}
const renderAll = (spec: Partial<DynaKubeSpec>, parts?: RenderParts) =>
  [extensions, extensionController, databaseExecutors].flatMap((component) =>
    rendered(component, renderInput(spec, parts)),
  )
const setOf = (spec: Partial<DynaKubeSpec>, parts?: RenderParts) =>
  only<StatefulSet>(rendered(extensionController, renderInput(spec, parts)), 'StatefulSet')
const podOf = (spec: Partial<DynaKubeSpec>, parts?: RenderParts) => setOf(spec, parts).spec?.template?.spec
const executor = (spec: Partial<DynaKubeSpec>, parts?: RenderParts) =>
  only<Deployment>(rendered(databaseExecutors, renderInput(spec, parts)), 'Deployment').spec

describe('extensions', () => {
  it.each([
    ['prometheus', prometheus(), {}],
    ['databases', databases(), {}],
    [
      'controller-with-everything',
      prometheus({
        useEphemeralVolume: true,
        customConfig: 'config',
        customExtensionCertificates: 'signers',
        tlsRefName: 'mine',
        labels: { team: 'a' },
        annotations: { team: 'a' },
        resources: { limits: { memory: '1Gi' } },
        tolerations: [{ key: 'dedicated', operator: 'Exists' }],
      }),
      { facts: { extensionsTlsData: { 'tls.crt': 'user certificate', 'tls.key': 'user key' } } },
    ],
    [
      'controller-with-claim',
      {
        ...prometheus({
          persistentVolumeClaim: {
            accessModes: ['ReadWriteOncePod'],
            storageClassName: 'fast',
            resources: { requests: { storage: '5Gi' } },
          },
          topologySpreadConstraints: [{ maxSkew: 2, topologyKey: 'rack', whenUnsatisfiable: 'DoNotSchedule' }],
        }),
        customPullSecret: 'pull',
      },
      { flags: { 'automatic-tls-certificate': 'false' } },
    ],
    [
      'databases-with-everything',
      {
        ...databases({
          replicas: 2,
          serviceAccountName: 'mine',
          labels: { team: 'a' },
          annotations: { team: 'a' },
          nodeSelector: { disk: 'ssd' },
          resources: { limits: { memory: '1Gi' } },
          volumes: [{ name: 'wallet', secret: { secretName: 'wallet' } }],
          volumeMounts: [{ name: 'wallet', mountPath: '/wallet' }],
          affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [NEAR_DATABASE] } },
          topologySpreadConstraints: [{ maxSkew: 2, topologyKey: 'rack', whenUnsatisfiable: 'DoNotSchedule' }],
        }),
        templates: {
          extensionExecutionController: { imageRef: image('eec') },
          sqlExtensionExecutor: {
            imageRef: image('sql'),
            tolerations: [{ key: 'dedicated', operator: 'Exists' }],
          },
        },
        trustedCAs: 'certificates',
        customPullSecret: 'pull',
      },
      {},
    ],
  ] as readonly (readonly [string, Partial<DynaKubeSpec>, RenderParts])[])(
    '%s matches its golden file',
    async (name, spec, parts) => {
      await expectGolden(
        asYaml(renderAll(spec, parts)),
        new URL(`../../golden/extensions/${name}.yaml`, import.meta.url),
      )
    },
  )

  it('are off by default', () => {
    expect(renderAll({ extensions: {} })).toEqual([])
  })

  it('share two tokens', () => {
    const objects = rendered(extensions, renderInput(prometheus())).map(({ object }) => object)
    const secret = objects.find(({ metadata }) => metadata.name === 'dk-extensions-token') as Secret
    const tokens = decodeSecret(secret.data)
    expect(tokens['eec.token']).toMatch(/^EEC dt0x01\./)
    expect(tokens['datasource.token']).toMatch(/^dt0x01\./)
  })

  it('use the certificate of the user if there is one', () => {
    const spec = prometheus({ tlsRefName: 'mine' })
    const parts = { facts: { extensionsTlsData: { 'tls.crt': 'x', 'tls.key': 'y' } } }
    const names = rendered(extensions, renderInput(spec, parts)).map(({ object }) => object.metadata.name)
    expect(names).toEqual(['dk-extensions-token', 'dk-extension-controller'])
    expect(podOf(spec, parts)?.volumes).toContainEqual({ name: 'https-certs', secret: { secretName: 'mine' } })
    expect(podOf(spec, parts)?.containers[0]?.env).toContainEqual({
      name: 'DsHttpsCertPathPem',
      value: '/var/lib/dynatrace/remotepluginmodule/secrets/https/tls.crt',
    })
  })

  it('say which certificate of the user is missing', () => {
    expect(() => setOf(prometheus({ tlsRefName: 'mine' }))).toThrow(ReferenceNotFoundError)
    expect(() => setOf(prometheus({ tlsRefName: 'mine' }))).toThrow(/the Secret dynatrace\/mine does not exist/)
  })
})

describe('the extension controller', () => {
  it('waits until the tenant and the cluster are known', () => {
    const { activeGate: _none, ...status } = KNOWN_STATUS
    expect(() => setOf(prometheus(), { status })).toThrow(/extension controller is waiting for the U/)
    const { kubeSystemUUID: _uid, ...nowhere } = KNOWN_STATUS
    expect(() => setOf(prometheus(), { status: nowhere })).toThrow(/UID of the cluster/)
  })

  it('restarts for another certificate', () => {
    const hash = (parts: RenderParts = {}) =>
      setOf(prometheus(), parts).spec?.template?.metadata?.annotations?.[ANNOTATIONS.extensionsSecret]
    expect(hash({ facts: { extensionsKeyPair: { certificate: 'new', privateKey: 'new' } } })).not.toBe(hash())
  })

  it('keeps its data in a claim by default', () => {
    expect(setOf(prometheus()).metadata.annotations?.[ANNOTATIONS.claimsHash]).toBe('2127461063')
    expect(setOf(prometheus()).spec).toMatchObject({
      volumeClaimTemplates: [
        {
          metadata: { name: 'agent-runtime' },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        },
      ],
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Delete' },
    })
    expect(podOf(prometheus())?.securityContext?.fsGroup).toBe(1001)
    const ephemeral = prometheus({ useEphemeralVolume: true })
    expect(setOf(ephemeral).spec).not.toHaveProperty('volumeClaimTemplates')
    expect(podOf(ephemeral)?.securityContext).not.toHaveProperty('fsGroup')
    expect(podOf(ephemeral)?.volumes).toContainEqual({ name: 'agent-runtime', emptyDir: {} })
  })

  it('does without the certificate of a gateway that has none', () => {
    const parts = { flags: { 'automatic-tls-certificate': 'false' } }
    expect(podOf(prometheus(), parts)?.volumes?.map(({ name }) => name)).not.toContain('server-certs')
    const names = podOf(prometheus(), parts)?.containers[0]?.env?.map(({ name }) => name)
    expect(names).not.toContain('ActiveGateTrustedCert')
  })
})

describe('executors of databases', () => {
  it('stay as many as there are unless the user says', () => {
    expect(executor(databases())?.replicas).toBe(1)
    expect(executor(databases(), { facts: { databaseReplicas: { oracle: 2 } } })?.replicas).toBe(2)
    expect(executor(databases({ replicas: 3 }), { facts: { databaseReplicas: { oracle: 2 } } })?.replicas).toBe(3)
  })

  it('are pulled again only when their tag moves', () => {
    const policy = (tag: string) => executor(databases({}, tag))?.template?.spec?.containers[0]?.imagePullPolicy
    expect([policy('latest'), policy('1.2.3')]).toEqual(['Always', 'IfNotPresent'])
  })

  it('have annotations only when the user gives some', () => {
    const annotated = (annotations: Readonly<Record<string, string>>) =>
      executor(databases({ annotations: { ...annotations } }))?.template?.metadata
    expect(annotated({})).not.toHaveProperty('annotations')
    expect(annotated({ team: 'a' })).toMatchObject({ annotations: { team: 'a' } })
  })

  it('keep their own labels', () => {
    const labels = { team: 'a', 'extensions.dynatrace.com/datasource': 'mine' }
    const deployment = only<Deployment>(rendered(databaseExecutors, renderInput(databases({ labels }))), 'Deployment')
    expect(deployment.metadata.labels).not.toHaveProperty('team')
    expect(deployment.spec?.template?.metadata?.labels).toMatchObject({
      team: 'a',
      'extensions.dynatrace.com/datasource': 'sql',
    })
  })
})
