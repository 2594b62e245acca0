/** The Helm that faults are explored with does what the real one does. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type HelmError, type ReleaseKey, readReleases } from '@reeve/helm'
import { systemClock } from '@reeve/http'
import { ConfigMaps, Deployments, type KubeObject, Namespaces, type Resource, Services } from '@reeve/kube'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ReleaseStore } from '../exploration/release-store.ts'
import { SimulatedHelm } from '../exploration/simulated-helm.ts'
import type { ReleaseCommands } from '../src/release/collector-context.ts'
import { helmPath, type Stage, setStage } from './support/stage.ts'

/** The chart that the simulated Helm renders without templates. */
const CHART: Readonly<Record<string, string>> = {
  'Chart.yaml': 'apiVersion: v2\nname: log-collector\nversion: 1.0.0\n',
  'values.yaml': 'replicas: 1\nbroken: false\nextra: false\n',
  'values.schema.json': '{"type": "object", "properties": {"replicas": {"type": "integer"}}}',
  'templates/config.yaml': `{{- if .Values.extra }}
apiVersion: v1
kind: ConfigMap
metadata: { name: {{ .Release.Name }} }
data: { extra: "yes" }
{{- end }}
`,
  'templates/broken.yaml': `{{- if .Values.broken }}
apiVersion: v1
kind: ConfigMap
metadata: { name: Not_A_Name }
{{- end }}
`,
  'templates/service.yaml': `apiVersion: v1
kind: Service
metadata: { name: {{ .Release.Name }} }
spec:
  selector: { app.kubernetes.io/instance: {{ .Release.Name }} }
  ports: [{ name: metrics, port: 8080 }]
`,
  'templates/deployment.yaml': `apiVersion: apps/v1
kind: Deployment
metadata: { name: {{ .Release.Name }} }
spec:
  replicas: {{ .Values.replicas }}
  selector: { matchLabels: { app.kubernetes.io/instance: {{ .Release.Name }} } }
  template:
    metadata: { labels: { app.kubernetes.io/instance: {{ .Release.Name }} } }
    spec: { containers: [{ name: collector, image: "nginx:1.29" }] }
`,
}

const marks = (letter: string) => ({ labels: { 'example.com/mark': letter }, description: `Collector ${letter}` })

describe.skipIf(helmPath === undefined)('the simulated helm (skipped without helm)', () => {
  let stage: Stage
  let chart: { readonly path: string }

  beforeAll(async () => {
    stage = await setStage()
    chart = { path: join(stage.charts, 'agreement') }
    for (const [file, text] of Object.entries(CHART)) {
      await mkdir(join(chart.path, 'templates'), { recursive: true })
      await writeFile(join(chart.path, file), text)
    }
  })
  afterAll(() => stage?.close())

  /** What can be seen after a command. A sentence about a failure is Helm's own, and so is how it orders labels. */
  async function traces(release: ReleaseKey) {
    const { client } = stage
    const history = await readReleases(client, release)
    const objects = await Promise.all(
      [ConfigMaps, Services, Deployments].map(async (resource) => {
        const { items } = await client.list(resource as Resource<KubeObject>, {
          namespace: release.namespace,
          labelSelector: 'app.kubernetes.io/managed-by=Helm',
        })
        return items.map(
          ({ kind, metadata }) =>
            `${kind} ${metadata.name} ${JSON.stringify(metadata.annotations?.['meta.helm.sh/release-name'])}`,
        )
      }),
    )
    return {
      history: history.map(({ revision, status, labels, description }) => ({
        revision,
        status,
        labels,
        description: status === 'failed' ? 'failed' : description,
      })),
      objects: objects.flat(),
    }
  }

  /** Every command that the operator uses, in every state that accepts or refuses it. */
  async function live(helm: ReleaseCommands, namespace: string): Promise<readonly unknown[]> {
    const { client } = stage
    await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
    stage.cluster.removeAtClose(`/api/v1/namespaces/${namespace}`)
    const release = { namespace, name: 'log-collector-eu1' }
    const seen: unknown[] = []
    const note = async (command: Promise<unknown>) => {
      const outcome = await command.then(
        (result) => (typeof result === 'boolean' ? result : 'done'),
        // What is thrown here has a code, or the test may fail.
        (error: HelmError) => error.code,
      )
      seen.push({ outcome, ...(await traces(release)) })
    }
    const refused = { ...marks('c'), values: { replicas: 'many' } }
    const broken = { ...marks('d'), values: { replicas: 0, broken: true } }
    await note(helm.upgrade(release, chart, marks('a')))
    await note(helm.install(release, chart, { ...marks('a'), values: { replicas: 0, extra: true } }))
    await note(helm.install(release, chart, marks('a')))
    await note(helm.upgrade(release, chart, { ...marks('b'), values: { replicas: 0 } }))
    await note(helm.upgrade(release, chart, refused))
    await note(helm.upgrade(release, chart, broken))
    await note(helm.rollback(release, 1))
    await note(helm.upgrade(release, chart, { values: { replicas: 0 } }))
    await note(helm.uninstall(release, { wait: true }))
    await note(helm.uninstall(release))
    return seen
  }

  test('leaves the records, objects and refusals that the real one leaves', { timeout: 120_000 }, async () => {
    const { helm, client, namespace } = stage
    const simulated = new SimulatedHelm({ clock: systemClock, releases: new ReleaseStore(client) })
    const real = await live(helm, `${namespace}-real`)
    expect(await live(simulated, `${namespace}-simulated`)).toEqual(real)
  })
})
