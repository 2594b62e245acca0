import { crdManifest, defineConversion, defineCrd, type ObjectOf } from '@reeve/crd'
import { startEmbeddedCluster } from '@reeve/embedded-cluster'
import { ConfigMaps, createClient, type KubeObject, Namespaces, resource, Secrets, Services } from '@reeve/kube'
import { asDocument, formatText, PlanRefusedError, planOperator, readState } from '@reeve/plan'
import { defineOperator, desired } from '@reeve/runtime'
import { conversionWebhook } from '@reeve/runtime/webhooks'
import { runInMemory } from '@reeve/testing'
import { Type } from 'typebox'
import { describe, expect, it } from 'vitest'

const v1 = {
  spec: Type.Object({
    text: Type.String(),
    copies: Type.Integer({ default: 1 }),
    isSecret: Type.Optional(Type.Boolean()),
  }),
  status: Type.Object({ said: Type.Optional(Type.String()) }),
}
const NoteCrd = defineCrd({
  group: 'example.com',
  kind: 'Note',
  plural: 'notes',
  scope: 'Namespaced',
  versions: { v1 },
})
const Notes = NoteCrd.resource('v1')
const Meshes = resource<KubeObject>({
  group: 'mesh.example.com',
  version: 'v1',
  kind: 'Mesh',
  plural: 'meshes',
  namespaced: true,
})
const labels = { app: 'notes' }
const TOKEN = btoa('hunter2')

const notes = defineOperator({
  name: 'notes',
  crds: [crdManifest(NoteCrd)],
  controllers: [
    {
      for: Notes,
      owns: [
        { resource: ConfigMaps, labelSelector: 'app=notes' },
        { resource: Secrets, labelSelector: 'app=notes' },
      ],
      render: ({ metadata: { namespace, name }, spec }) => {
        if (spec.text === 'bad') throw new Error('spec.text: "bad" is not allowed')
        const meta = (id: string) => ({ name: id, ...(namespace && { namespace }), labels })
        const maps = Array.from({ length: spec.copies }, (_, index) =>
          desired(ConfigMaps, { metadata: meta(`${name}-${index}`), data: { text: spec.text } }),
        )
        return spec.isSecret ? [...maps, desired(Secrets, { metadata: meta(name), data: { token: TOKEN } })] : maps
      },
      report: ({ primary: { spec } }) => ({ status: { said: spec.text } }),
    },
  ],
})

const note = (spec: object, metadata: object = {}): KubeObject => ({
  ...{ apiVersion: 'example.com/v1', kind: 'Note', spec },
  metadata: { namespace: 'default', name: 'n', ...metadata },
})
const signal = AbortSignal.timeout(60_000)
const plan = (input: Partial<Parameters<typeof planOperator>[1]>) =>
  planOperator(notes, { state: [], signal, ...input })

describe('a plan without a cluster', () => {
  it('shows what would be created for a file, with the defaults of the CRD', async () => {
    const { changes, resources } = await plan({ files: [note({ text: 'hi' })] })
    expect(changes.map(({ action, kind, name, owner }) => [action, kind, name, owner])).toEqual([
      ['create', 'ConfigMap', 'n-0', 'Note default/n'],
      ['create', 'Note', 'n', 'Note default/n'],
    ])
    expect(resources).toEqual([{ kind: 'Note', namespace: 'default', name: 'n' }])
  })

  it('never shows the data of a Secret', async () => {
    const result = await plan({ files: [note({ text: 'hi', isSecret: true })] })
    const shown = formatText(result, { isFull: true }) + JSON.stringify(asDocument(result))
    expect(shown).toContain('(sensitive)')
    expect(shown).not.toContain(TOKEN)
  })

  it('reports a resource that fails as an error', async () => {
    const result = await plan({ files: [note({ text: 'bad' })] })
    expect(result.findings).toEqual([
      { severity: 'error', object: 'Note default/n', message: 'spec.text: "bad" is not allowed' },
    ])
    expect(formatText(result)).toContain('Incomplete plan')
  })

  it('does not change paused resources, and reports them', async () => {
    const annotations = { 'reeve.dev/paused': 'true' }
    const { changes, findings } = await plan({ files: [note({ text: 'hi' }, { annotations })] })
    expect(changes.map(({ kind }) => kind)).toEqual(['Note'])
    expect(findings).toEqual([
      { severity: 'note', object: 'Note default/n', message: 'is paused by the annotation reeve.dev/paused' },
    ])
  })

  it('aligns names by kind', async () => {
    expect(formatText(await plan({ files: [note({ text: 'hi', isSecret: true })] }))).toBe(
      [
        'Note default/n',
        '    + ConfigMap  default/n-0',
        '    + Note       default/n',
        '    + Secret     default/n',
        '',
        'Plan: 3 to create, 0 to change, 0 to remove.',
        '',
      ].join('\n'),
    )
  })

  it('is refused for a controller that may act outside the cluster', async () => {
    const acting = defineOperator({
      name: 'acting',
      controllers: [{ for: Notes, components: [{ name: 'call', resolve: () => undefined }] }],
    })
    const files = [note({ text: 'hi' })]
    await expect(planOperator(acting, { files, state: [], signal })).rejects.toThrow(PlanRefusedError)
    const declared = defineOperator({
      name: 'acting',
      controllers: [{ for: Notes, plannable: true, components: [{ name: 'call', resolve: () => undefined }] }],
    })
    expect((await planOperator(declared, { files, state: [], signal })).changes).toHaveLength(1)
  })
})

describe('what an operator adds to its plans', () => {
  const files = [note({ text: 'hi' })]

  it('prepares objects that are seen by its controllers and are not part of the plan', async () => {
    const word: KubeObject = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace: 'default', name: 'word', labels },
    }
    const seen: string[] = []
    const { changes } = await plan({
      files,
      additions: {
        prepare: async (scratch) => {
          await scratch.client.create(Secrets, word)
          seen.push(...scratch.view.list(Notes).map(({ metadata }) => metadata.name))
          return [word]
        },
      },
    })
    expect(seen).toEqual(['n'])
    expect(changes.map(({ kind }) => kind)).toEqual(['ConfigMap', 'Note'])
  })

  it('reports versions of every resource, and findings of those that do not fail', async () => {
    const both = [...files, note({ text: 'bad' }, { name: 'b' })]
    const inspect = ({ kind, metadata: { name = '' } }: KubeObject) => ({
      versions: { text: name },
      findings: [{ severity: 'note', object: kind, message: name } as const],
    })
    const { resources, findings } = await plan({ files: both, additions: { inspect } })
    expect(resources.map(({ versions }) => versions)).toEqual([{ text: 'b' }, { text: 'n' }])
    expect(findings.map(({ severity, message }) => [severity, message])).toEqual([
      ['error', 'spec.text: "bad" is not allowed'],
      ['note', 'n'],
    ])
  })

  it('orders components, and says which objects belong to them', async () => {
    const placesIn = () => (object: KubeObject) => ({ owner: 'all', component: object.kind })
    const { changes } = await plan({ files, additions: { placesIn, componentOrder: ['Note', 'ConfigMap'] } })
    expect(changes.map(({ component }) => component)).toEqual(['Note', 'ConfigMap'])
  })
})

describe('a file in another version that the CRD serves', () => {
  const old = { spec: Type.Object({ days: Type.Integer({ default: 7 }), tone: Type.Optional(Type.String()) }) } as const
  const current = { spec: Type.Object({ hours: Type.Integer(), tone: Type.Optional(Type.String()) }) } as const
  const crd = defineCrd({
    group: 'example.com',
    kind: 'Backup',
    plural: 'backups',
    scope: 'Namespaced',
    // The operator uses another version than the one that is stored.
    versions: { v1: { ...old, storage: true }, v2: current },
  })
  const convert = defineConversion(crd, 'v2', {
    v1: {
      toHub: ({ spec: { days, ...rest }, ...object }: ObjectOf<typeof old>) => ({
        ...object,
        spec: { ...rest, hours: days * 24 },
      }),
      fromHub: ({ spec: { hours, ...rest }, ...object }: ObjectOf<typeof current>) => ({
        ...object,
        spec: { ...rest, days: Math.floor(hours / 24) },
      }),
    },
  })
  const backups = defineOperator({
    name: 'backups',
    crds: [crdManifest(crd)],
    webhooks: [conversionWebhook('/convert', [{ group: 'example.com', kind: 'Backup', convert }])],
    controllers: [
      {
        for: crd.resource('v2'),
        owns: [{ resource: ConfigMaps, labelSelector: 'app=notes' }],
        render: ({ metadata: { namespace, name }, spec: { hours } }) => [
          desired(ConfigMaps, { metadata: { namespace, name, labels }, data: { hours: String(hours) } }),
        ],
      },
    ],
  })
  const metadata = { namespace: 'default', name: 'b' }
  const backup = (version: string, spec: object, annotations?: Record<string, string>): KubeObject => ({
    ...{ apiVersion: `example.com/${version}`, kind: 'Backup', spec },
    metadata: { ...metadata, ...(annotations && { annotations }) },
  })
  const made = ({ changes }: Awaited<ReturnType<typeof planOperator>>) =>
    changes.map(({ action, kind, apiVersion }) => `${action} ${apiVersion} ${kind}`)

  it('gets the defaults of its version and is converted by the operator', async () => {
    const result = await planOperator(backups, { files: [backup('v1', {})], state: [], signal })
    expect(result.findings).toEqual([])
    expect(made(result)).toEqual(['create example.com/v2 Backup', 'create v1 ConfigMap'])
    expect(result.changes.map(({ manifest }) => manifest)).toMatchObject([
      { spec: { hours: 168 } },
      { data: { hours: '168' } },
    ])
  })

  it('changes nothing where the cluster has the same in the other version', async () => {
    const applied = { 'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify(backup('v1', { days: 2 })) }
    const state = [backup('v2', { hours: 48, tone: 'set by a webhook' }, applied)]
    const same = await planOperator(backups, { files: [backup('v1', { days: 2 })], state, signal })
    expect(made(same)).toEqual(['create v1 ConfigMap'])
    const other = await planOperator(backups, { files: [backup('v1', { days: 3 })], state, signal })
    expect(other.changes.find(({ kind }) => kind === 'Backup')?.fields).toEqual([
      { path: 'spec.hours', before: 48, after: 72 },
    ])
  })

  it('is named when the CRD does not serve it', async () => {
    const planning = planOperator(backups, { files: [backup('v3', {})], state: [], signal })
    await expect(planning).rejects.toThrow(/does not serve v3/)
  })
})

describe('kinds of one name in two groups', () => {
  const KnativeServices = resource<KubeObject & { readonly spec: object }>({
    group: 'serving.knative.dev',
    version: 'v1',
    kind: 'Service',
    plural: 'services',
    namespaced: true,
  })
  const both = defineOperator({
    name: 'both',
    crds: [crdManifest(NoteCrd)],
    controllers: [
      {
        for: Notes,
        owns: [
          { resource: Services, labelSelector: 'app=notes' },
          { resource: KnativeServices, labelSelector: 'app=notes' },
        ],
        render: ({ metadata: { namespace, name }, spec: { text } }) => [
          desired(Services, { metadata: { namespace, name, labels }, spec: { ports: [{ port: 80 }] } }),
          desired(KnativeServices, {
            ...{ apiVersion: 'serving.knative.dev/v1', kind: 'Service' },
            metadata: { namespace, name, labels },
            spec: { text, clusterIP: 'mine' },
          }),
        ],
      },
    ],
  })

  it('are planned separately', async () => {
    const { changes, findings } = await planOperator(both, { files: [note({ text: 'hi' })], state: [], signal })
    expect(findings).toEqual([])
    expect(changes.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`)).toEqual([
      'example.com/v1 Note',
      'v1 Service',
      'serving.knative.dev/v1 Service',
    ])
  })
})

describe('a kind of a group of Kubernetes that comes with a CRD', () => {
  it('is planned as any custom resource', async () => {
    const Gateways = resource<KubeObject & { readonly spec: object }>({
      group: 'gateway.networking.k8s.io',
      version: 'v1',
      kind: 'Gateway',
      plural: 'gateways',
      namespaced: true,
    })
    const gates = defineOperator({
      name: 'gates',
      crds: [crdManifest(NoteCrd)],
      controllers: [
        {
          for: Notes,
          owns: [{ resource: Gateways, labelSelector: 'app=notes' }],
          render: ({ metadata: { namespace, name }, spec: { text } }) => [
            desired(Gateways, {
              ...{ apiVersion: 'gateway.networking.k8s.io/v1', kind: 'Gateway' },
              metadata: { namespace, name, labels },
              spec: { gatewayClassName: text },
            }),
          ],
        },
      ],
    })
    const { changes, findings } = await planOperator(gates, { files: [note({ text: 'hi' })], state: [], signal })
    expect(findings).toEqual([])
    expect(changes.map(({ kind }) => kind)).toEqual(['Gateway', 'Note'])
  })
})

describe('a plan for a cluster', () => {
  /** A cluster in which the operator has done its work for one note with two copies. */
  async function clusterWithNote() {
    const crds = () => [crdManifest(NoteCrd)]
    const world = await runInMemory({ ...notes, crds }, { objects: [note({ text: 'hi', copies: 2 })] })
    await world.settle()
    for (const replica of world.replicas) await replica.stop()
    return world
  }

  it('is empty when the operator has nothing to do, and shows drift and pruning otherwise', async () => {
    await using world = await clusterWithNote()
    const { client } = world
    const { requests } = world.cluster
    const planNow = async (files: readonly KubeObject[] = []) => {
      const { objects: state } = await readState(client, notes.describe(), { signal })
      return planOperator(notes, { state, files, cluster: client, signal })
    }
    expect(await planNow()).toMatchObject({ changes: [], unchanged: 2, findings: [] })

    const first = { namespace: 'default', name: 'n-0' }
    await client.patch(ConfigMaps, first, { type: 'merge', patch: { data: { text: 'edited' } } })
    const before = requests.writes
    const drift = await planNow()
    expect(drift.changes).toMatchObject([
      {
        action: 'change',
        kind: 'ConfigMap',
        name: 'n-0',
        fields: [{ path: 'data.text', before: 'edited', after: 'hi' }],
      },
    ])
    const fewer = await planNow([note({ text: 'hi', copies: 1 })])
    expect(fewer.changes.map(({ action, kind, name }) => `${action} ${kind} ${name}`)).toEqual([
      'change ConfigMap n-0',
      'remove ConfigMap n-1',
      'change Note n',
    ])
    expect((await client.get(ConfigMaps, first)).data).toEqual({ text: 'edited' })
    // Set by another manager, as by a webhook, and not in the file.
    await client.patch(
      Notes,
      { namespace: 'default', name: 'n' },
      { type: 'merge', patch: { spec: { isSecret: false } } },
    )
    const applied = await planNow([note({ text: 'hi' })])
    expect(applied.changes.map(({ kind, name }) => `${kind} ${name}`)).toEqual(['ConfigMap n-0'])
    // Dry runs count as writes and store nothing.
    expect((await client.get(Notes, { namespace: 'default', name: 'n' })).spec.copies).toBe(2)
    expect(requests.writes).toBeGreaterThanOrEqual(before)
  })

  it('reads given namespaces only, if asked to, and what is rendered elsewhere', async () => {
    await using cluster = await clusterWithNote()
    const { client } = cluster
    for (const name of ['shop', 'blog'])
      await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
    const metadata = (namespace: string, name: string) => ({ namespace, name, labels: { for: 'n', ...labels } })
    await client.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata: metadata('blog', 'copy') })
    await client.create(ConfigMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: metadata('blog', 'other') })
    const copying = defineOperator({
      name: 'copying',
      controllers: [
        {
          for: Notes,
          reads: [
            { resource: Secrets, fieldSelector: 'metadata.name=copy' },
            { resource: ConfigMaps, labelSelector: 'app=notes' },
          ],
          elsewhere: [{ resource: Secrets, label: 'for', labelValue: ({ name }) => name }],
          onDemand: { kinds: [Meshes], isWanted: () => true, missing: () => new Error('there is no mesh') },
          render: ({ metadata: { namespace, name } }) => [desired(Meshes, { metadata: { name, namespace } })],
        },
      ],
    })
    const { objects, unserved } = await readState(client, copying.describe(), { within: ['shop', 'default'], signal })
    expect(objects.map(({ kind, metadata: { namespace, name } }) => `${kind} ${namespace ?? ''}/${name}`)).toEqual([
      'Note default/n',
      'Namespace /shop',
      'Namespace /default',
      'Secret blog/copy',
      'ConfigMap default/n-0',
      'ConfigMap default/n-1',
    ])
    expect(unserved).toEqual([Meshes])
    const { findings } = await planOperator(copying, { state: objects, unserved, signal })
    expect(findings.map(({ message }) => message)).toEqual(['there is no mesh'])
    const { changes } = await planOperator(copying, { state: objects, signal })
    expect(changes.map(({ action, kind }) => `${action} ${kind}`)).toEqual(['remove Secret', 'create Mesh'])
  })

  it('says which CRD is missing', async () => {
    await using cluster = await startEmbeddedCluster({ listen: false })
    const client = createClient({ transport: cluster.transport })
    const { findings } = await readState(client, notes.describe(), { signal })
    expect(findings[0]?.message).toContain('the CRD notes.example.com is not installed')
  })
})
