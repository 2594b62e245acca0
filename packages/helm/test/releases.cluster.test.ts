/** The driver and the real helm on a cluster: the life of a release, and its record. */
import {
  decodeRelease,
  FieldConflictError,
  HELM_FIELD_MANAGER,
  readReleases,
  TemplateError,
  ValuesRefusedError,
} from '@reeve/helm'
import { Deployments, Secrets } from '@reeve/kube'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type HelmSession, helmPath, helms, startHelmSession } from './support/helm-session.ts'

describe.skipIf(helmPath === undefined).each(helms)('a release of $name', ({ path }) => {
  let session: HelmSession

  beforeAll(async () => {
    session = await startHelmSession(path)
  })
  afterAll(() => session.close())

  const key = (name: string) => ({ namespace: session.namespace, name })
  const replicas = async (name: string) =>
    (await session.api(`deployments/${name}`, { group: 'apis/apps/v1' })).json<{ spec: { replicas: number } }>().spec
      .replicas

  test.concurrent('is installed, upgraded, rolled back and uninstalled', async () => {
    const { helm, chart, client, namespace } = session
    const installed = await helm.install(key('life'), chart, {
      values: { replicas: 1 },
      labels: { tenant: 'a' },
      wait: true,
      description: 'by a test',
    })
    expect(installed).toMatchObject({
      ...key('life'),
      revision: 1,
      status: 'deployed',
      chart: { name: 'web', version: '1.0.0', appVersion: '7' },
      values: { replicas: 1 },
      description: 'by a test',
    })
    expect(await replicas('life')).toBe(1)
    const { metadata } = await client.get(Deployments, key('life'))
    expect(metadata.managedFields?.map(({ manager }) => manager)).toContain(HELM_FIELD_MANAGER)

    const upgraded = await helm.upgrade(key('life'), chart, { values: { replicas: 2, greeting: 'hi' } })
    expect(upgraded).toMatchObject({ revision: 2, status: 'deployed' })
    expect(await helm.values(key('life'))).toEqual({ replicas: 2, greeting: 'hi' })
    expect(await helm.values(key('life'), { revision: 1 })).toEqual({ replicas: 1 })
    expect(await helm.manifest(key('life'))).toContain('greeting: "hi"')

    // The record contains the same as the output of helm.
    const record = await client.get(Secrets, { namespace, name: 'sh.helm.release.v1.life.v2' })
    const { chart: _chart, labels, ...known } = decodeRelease(record)
    expect(labels).toEqual({ tenant: 'a' })
    expect(await helm.status(key('life'))).toMatchObject(known)
    expect((await helm.status(key('life'))).chart).toEqual({ name: 'web', version: '1.0.0', appVersion: '7' })

    await helm.rollback(key('life'), 1)
    expect(await replicas('life')).toBe(1)
    const history = await helm.history(key('life'))
    expect(history.map(({ revision, status }) => [revision, status])).toEqual([
      [1, 'superseded'],
      [2, 'superseded'],
      [3, 'deployed'],
    ])
    expect((await readReleases(client, key('life'))).map(({ revision, status }) => [revision, status])).toEqual(
      history.map(({ revision, status }) => [revision, status]),
    )
    expect(await helm.list({ namespace, selector: 'tenant=a' })).toMatchObject([
      { ...key('life'), revision: 3, chart: 'web-1.0.0' },
    ])

    expect(await helm.uninstall(key('life'), { wait: true })).toBe(true)
    expect((await session.api('deployments/life', { group: 'apis/apps/v1' })).status).toBe(404)
    expect(await readReleases(client, key('life'))).toEqual([])
    expect(await helm.uninstall(key('life'))).toBe(false)
    await expect(helm.status(key('life'))).rejects.toMatchObject({ code: 'HELM_RELEASE_NOT_FOUND' })
  })

  test.concurrent('discards earlier values when it is upgraded without any', async () => {
    const { helm, chart } = session
    await helm.install(key('forgetful'), chart, { values: 'replicas: 0\ngreeting: moin\n' })
    expect((await helm.upgrade(key('forgetful'), chart)).values).toEqual({})
    expect(await helm.values(key('forgetful'))).toEqual({})
  })

  test.concurrent('shows what an install, an upgrade and nothing at all would change, and changes nothing', async () => {
    const { helm, chart, client } = session
    const first = await helm.diff(key('shown'), chart, { values: { replicas: 0 } })
    expect(first).toMatchObject({ isInstall: true, changes: [{ change: 'create' }, { change: 'create' }] })
    expect(await readReleases(client, key('shown'))).toEqual([])

    const installed = await helm.install(key('shown'), chart, { values: { replicas: 0, secret: 'hunter2' } })
    const changes = await helm.diff(key('shown'), chart, { values: { replicas: 1 }, current: installed })
    expect(changes).toEqual({
      isInstall: false,
      changes: [
        { change: 'update', apiVersion: 'apps/v1', kind: 'Deployment', name: 'shown', fields: ['spec.replicas'] },
        { change: 'delete', apiVersion: 'v1', kind: 'Secret', name: 'shown', fields: [] },
      ],
    })
    expect((await helm.diff(key('shown'), chart, { values: { replicas: 0, secret: 'hunter2' } })).changes).toEqual([])
    expect(await readReleases(client, key('shown'))).toHaveLength(1)
    expect(await replicas('shown')).toBe(0)
  })

  test.concurrent('is rendered without a cluster', async () => {
    expect(await session.helm.template(key('drawn'), session.chart, { values: { greeting: 'hey' } })).toContain(
      'greeting: "hey"',
    )
  })

  test.concurrent('keeps its last good revision when values are rejected, and the error has their paths', async () => {
    const { helm, chart, client } = session
    await helm.install(key('picky'), chart, { values: { replicas: 0 } })
    const error = await helm.upgrade(key('picky'), chart, { values: { replicas: 'many', image: {} } }).catch((e) => e)
    expect(error).toBeInstanceOf(ValuesRefusedError)
    expect(error.problems.map(({ path }: { path: string }) => path).sort()).toEqual(['image', 'replicas'])
    expect(await readReleases(client, key('picky'))).toMatchObject([{ revision: 1, status: 'deployed' }])
  })

  test.concurrent('names the template and line that failed', async () => {
    const error = await session.helm
      .install(key('broken'), session.chart, { values: { fail: 'because' } })
      .catch((e) => e)
    expect(error).toBeInstanceOf(TemplateError)
    expect(error).toMatchObject({ file: 'web/templates/extras.yaml', line: 3 })
    expect(error.message).toContain('because')
  })

  test.concurrent('does not quote a secret that a template quotes', async () => {
    const values = { secret: 'hunter2', greeting: 'x', fail: 'the password is hunter2' }
    const error = await session.helm.install(key('loud'), session.chart, { values }).catch((e) => e)
    expect(error.message).toContain('the password is [redacted]')
  })

  test.concurrent('distinguishes rejected objects from templates that do not render', async () => {
    const { helm, chart } = session
    const refused = { code: 'HELM_OBJECT_REFUSED' }
    const unknown = helm.install(key('unknown'), chart, { values: { replicas: 0, unknownKind: true } })
    await expect(unknown).rejects.toMatchObject(refused)
    const invalid = helm.install(key('invalid'), chart, { values: { replicas: 0, container: 'No_Name' } })
    await expect(invalid).rejects.toMatchObject(refused)
  })

  test.concurrent('does not adopt objects that belong to no release or to another one', async () => {
    const { helm, chart, api } = session
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'taken' } }
    await api('configmaps', { method: 'POST', body })
    const install = (takeOwnership: boolean) =>
      helm.install(key('taken'), chart, { values: { replicas: 0 }, takeOwnership })
    await expect(install(false)).rejects.toMatchObject({ code: 'HELM_OBJECT_NOT_OWNED' })
    expect(await install(true)).toMatchObject({ status: 'deployed' })
    await expect(install(false)).rejects.toMatchObject({ code: 'HELM_RELEASE_EXISTS' })
  })

  test.concurrent('names the manager and the field of a conflict, and overwrites it on request', async () => {
    const { helm, chart, api } = session
    await helm.install(key('contested'), chart, { values: { replicas: 0 } })
    const patch = {
      method: 'PATCH',
      group: 'apis/apps/v1',
      body: { spec: { replicas: 1 } },
      headers: { 'content-type': 'application/merge-patch+json' },
    } as const
    expect((await api('deployments/contested?fieldManager=boss', patch)).status).toBe(200)
    const error = await helm.upgrade(key('contested'), chart, { values: { replicas: 2 } }).catch((e) => e)
    if (helm.binary.major === 3) {
      // It patches what it last sent, and never notices.
      expect(error).toMatchObject({ status: 'deployed' })
    } else {
      expect(error).toBeInstanceOf(FieldConflictError)
      expect(error).toMatchObject({ managers: ['boss'], fields: ['spec.replicas'] })
    }
    await helm.upgrade(key('contested'), chart, { values: { replicas: 2 }, forceConflicts: true })
    expect(await replicas('contested')).toBe(2)
  })

  test.concurrent('needs its namespace, or creates it', async () => {
    const { helm, chart, cluster } = session
    const elsewhere = { namespace: `${session.namespace}-more`, name: 'far' }
    const values = { replicas: 0 }
    await expect(helm.install(elsewhere, chart, { values })).rejects.toMatchObject({ code: 'HELM_NAMESPACE_MISSING' })
    expect(await helm.install(elsewhere, chart, { values, createNamespace: true })).toMatchObject({
      status: 'deployed',
    })
    await helm.uninstall(elsewhere)
    await cluster.raw.send({ method: 'DELETE', path: `/api/v1/namespaces/${elsewhere.namespace}` })
  })

  test.concurrent('distinguishes a missing chart from an invalid one', async () => {
    const { helm, folder } = session
    await expect(helm.install(key('a'), { path: `${folder}/nope.tgz` })).rejects.toMatchObject({
      code: 'HELM_CHART_NOT_FOUND',
    })
    await expect(helm.install(key('a'), { path: folder })).rejects.toMatchObject({ code: 'HELM_CHART_INVALID' })
  })
})
