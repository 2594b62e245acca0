/** Helm, unmodified, with a typical chart: a Deployment, a Service, a Secret, a hook and a custom resource. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findClientBinary } from '@reeve/client-binaries'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ClientSession } from './support/client-session.ts'
import { webManifest } from './support/manifests.ts'

const helm = await findClientBinary('helm')

const credentials = `
apiVersion: v1
kind: Secret
metadata:
  name: {{ .Release.Name }}
stringData:
  password: {{ .Values.password | quote }}
`

const migration = `
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ .Release.Name }}-migrate
  annotations:
    helm.sh/hook: pre-upgrade
    helm.sh/hook-delete-policy: before-hook-creation
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
        - {name: migrate, image: busybox}
`

const kind = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: gadgets.GROUP
spec:
  group: GROUP
  scope: Namespaced
  names: {plural: gadgets, kind: Gadget}
  versions:
    - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
`

const gadget = `
apiVersion: GROUP/v1
kind: Gadget
metadata:
  name: {{ .Release.Name }}
`

describe.skipIf(helm === undefined)('helm (skipped without helm)', () => {
  let session: ClientSession

  beforeAll(async () => {
    session = await ClientSession.open()
    const group = `${session.namespace}.example.com`
    const web = webManifest('{{ .Release.Name }}').replace('replicas: 2', 'replicas: {{ .Values.replicas }}')
    const files = {
      'Chart.yaml': 'apiVersion: v2\nname: demo\nversion: 1.0.0\n',
      'values.yaml': 'replicas: 1\npassword: secret\n',
      'crds/gadgets.yaml': kind.replaceAll('GROUP', group),
      'templates/web.yaml': web,
      'templates/credentials.yaml': credentials,
      'templates/migration.yaml': migration,
      'templates/gadget.yaml': gadget.replaceAll('GROUP', group),
    }
    for (const folder of ['crds', 'templates']) await mkdir(join(session.folder, 'demo', folder), { recursive: true })
    for (const [name, text] of Object.entries(files)) await writeFile(join(session.folder, 'demo', name), text)
  })

  afterAll(async () => {
    // Helm keeps the CRDs of a chart by design.
    const definition = `gadgets.${session.namespace}.example.com`
    const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${definition}`
    await session.cluster.raw.send({ method: 'DELETE', path })
    await session.close()
  })

  const h = (command: string) => session.run(helm ?? '', command.split(' '))
  const attempt = (command: string) => session.attempt(helm ?? '', command.split(' '))

  /** An object in the session's namespace, by the rest of its path. */
  async function read(path: string, group = 'api/v1') {
    const answer = await session.cluster.raw.send({ path: `/${group}/namespaces/${session.namespace}/${path}` })
    return { status: answer.status, body: JSON.parse(answer.text) }
  }

  test('installs a chart and waits for its pods, upgrades, rolls back and uninstalls it', async () => {
    expect(await h('install rel demo --wait --timeout=60s')).toMatch(/STATUS: deployed\n(.*\n)*REVISION: 1\n/)
    expect((await read('deployments/rel', 'apis/apps/v1')).body.status.readyReplicas).toBe(1)
    expect((await read('secrets/rel')).body.data.password).toBe(Buffer.from('secret').toString('base64'))
    expect((await read('gadgets/rel', `apis/${session.namespace}.example.com/v1`)).status).toBe(200)

    expect(await h('upgrade rel demo --set=replicas=2 --set=password=new --wait --timeout=60s')).toContain(
      'REVISION: 2\n',
    )
    expect((await read('deployments/rel', 'apis/apps/v1')).body.status.readyReplicas).toBe(2)
    expect((await read('jobs/rel-migrate', 'apis/batch/v1')).body.status.succeeded).toBe(1)
    expect(await h('get values rel')).toContain('password: new\nreplicas: 2\n')

    await h('rollback rel 1 --wait --timeout=60s')
    expect((await read('deployments/rel', 'apis/apps/v1')).body.spec.replicas).toBe(1)
    const revisions = JSON.parse(await h('history rel -o json'))
    expect(revisions.map(({ status }: { status: string }) => status)).toEqual(['superseded', 'superseded', 'deployed'])
    expect(JSON.parse(await h('status rel -o json'))).toMatchObject({
      name: 'rel',
      version: 3,
      info: { status: 'deployed' },
    })
    expect(JSON.parse(await h('list -o json'))).toMatchObject([{ name: 'rel', revision: '3', chart: 'demo-1.0.0' }])

    expect(await h('uninstall rel --wait --timeout=60s')).toContain('release "rel" uninstalled')
    expect((await read('deployments/rel', 'apis/apps/v1')).status).toBe(404)
    expect((await read('secrets')).body.items).toEqual([])
  })

  test('installs a missing release with upgrade --install, and keeps the history on request', async () => {
    expect(await h('upgrade --install kept demo')).toContain('Release "kept" does not exist. Installing it now.')
    await h('uninstall kept --keep-history')
    expect(JSON.parse(await h('history kept -o json'))).toMatchObject([{ status: 'uninstalled' }])
  })

  test('reports why a release could not be installed, and lists it as failed', async () => {
    const { code, stderr } = await attempt('install broken demo --set=replicas=-1')
    expect(code).toBe(1)
    expect(stderr).toContain('spec.replicas: Invalid value: -1: must be greater than or equal to 0')
    expect(JSON.parse(await h('status broken -o json')).info.status).toBe('failed')
    await h('uninstall broken')
  })

  test('prints with a server dry run what it would install, without installing it', async () => {
    expect(await h('install tried demo --dry-run=server')).toContain('kind: Deployment')
    expect((await attempt('status tried')).stderr).toContain('release: not found')
  })

  test('refuses to take over objects that are not part of a release', async () => {
    const path = `/api/v1/namespaces/${session.namespace}/secrets`
    const body = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'taken' } }
    await session.cluster.raw.send({ method: 'POST', path, body })
    const { code, stderr } = await attempt('install taken demo')
    expect(code).toBe(1)
    expect(stderr).toContain(`Secret "taken" in namespace "${session.namespace}" exists and cannot be imported`)
  })
})
