/**
 * A user who may only write Collectors in one namespace tries to get further, with RBAC on and the operator under the
 * account and the rights of its own chart.
 */
import { randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { manifestObjects, readReleases } from '@reeve/helm'
import { encodeRelease } from '@reeve/helm/testing'
import {
  type ClusterConfig,
  ClusterRoleBindings,
  ConfigMaps,
  isNotFound,
  Jobs,
  loadConfig,
  Secrets,
  type UnknownObject,
} from '@reeve/kube'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { revisionMarks } from '../src/decision/revision-marks.ts'
import { Collectors } from '../src/index.ts'
import { type CollectorParts, collectorOf, configuration } from '../src/testing/collector.ts'
import { helmPath, type RunningOperator, type Stage, setStage } from './support/stage.ts'
import { condition } from './support/tenants.ts'

const CHART = fileURLToPath(new URL('../chart', import.meta.url))
const DIGEST = `sha256:${'0'.repeat(64)}`
const RBAC = new Set(['ServiceAccount', 'ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'])

/** Renders any object that its values hold, as a chart does that does not quote. */
const INJECTABLE = '{{ .Values.raw }}\n'
const LOOKUP = `apiVersion: v1
kind: ConfigMap
metadata: { name: {{ .Release.Name | quote }} }
data: { found: {{ lookup "v1" "Secret" (.Values.in | default "") "" | toJson | quote }} }
`
const job = (metadata: string) => `apiVersion: batch/v1
kind: Job
metadata: ${metadata}
spec: {template: {spec: {hostPID: true, restartPolicy: Never, containers: [{name: a, image: a}]}}}
`
/** A manifest as one line of JSON. */
const flow = (yaml: string) => JSON.stringify(parse(yaml))
const listOf = (yaml: string, kind = 'List') => `apiVersion: v1\nkind: ${kind}\nitems:\n- ${flow(yaml)}\n`
const CRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: pwns.example.org}
`

describe.skipIf(helmPath === undefined)('a user who may write Collectors only (skipped without helm)', () => {
  let stage: Stage
  let operator: RunningOperator
  let team: string
  let victim: string
  const run = randomBytes(3).toString('hex')
  const name = `collectors-${run}`

  async function operatorAccount(): Promise<ClusterConfig> {
    const path = `/api/v1/namespaces/${stage.namespace}/serviceaccounts/${name}/token`
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }
    const { status } = await stage.client.raw<{ status: { token: string } }>({ method: 'POST', path, body })
    const credentials = { get: async () => ({ authorization: `Bearer ${status.token}` }), renew: async () => undefined }
    return { ...(await loadConfig({ kubeconfig: stage.cluster.kubeconfigPath })), credentials }
  }

  async function chart(chartName: string, files: Readonly<Record<string, string>>): Promise<void> {
    const metadata = `apiVersion: v2\nname: ${chartName}\nversion: 1.0.0\n`
    for (const [path, text] of Object.entries({ 'Chart.yaml': metadata, ...files })) {
      await mkdir(dirname(join(stage.charts, chartName, path)), { recursive: true })
      await writeFile(join(stage.charts, chartName, path), text)
    }
  }

  beforeAll(async () => {
    stage = await setStage()
    team = await stage.cluster.createNamespace()
    victim = await stage.cluster.createNamespace()
    const release = { namespace: stage.namespace, name }
    const values = { settings: { clusters: {}, serviceAccounts: ['mighty'] } }
    const rendered = manifestObjects(await stage.helm.template(release, { path: CHART }, { values }))
    for (const object of rendered.filter(({ kind }) => RBAC.has(kind))) {
      const resource = await stage.client.resourceFor(object)
      await stage.client.apply<UnknownObject>(resource, object, { force: true, fieldManager: 'test' })
      if (!resource.namespaced) {
        stage.cluster.removeAtClose(`/apis/${object.apiVersion}/${resource.plural}/${object.metadata.name}`)
      }
    }
    // The account of the team may do in its namespace what a collector needs, and no more.
    await stage.grantAccount(team, `${name}-tenant`)
    // Another one has all rights, as no account of a tenant should.
    await stage.client.create(ClusterRoleBindings, {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: `mighty-${run}` },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ kind: 'ServiceAccount', namespace: team, name: 'mighty' }],
    })
    stage.cluster.removeAtClose(`/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/mighty-${run}`)
    await stage.client.create(Secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace: victim, name: 'treasure' },
      stringData: { key: 'open-sesame' },
    })
    await chart('injectable', { 'templates/a.yaml': INJECTABLE })
    await chart('curious', { 'templates/a.yaml': LOOKUP })
    await chart('with-crds', { 'crds/pwn.yaml': CRD, 'crds/job.yaml': job('{name: pwn, namespace: kube-system}') })
    await chart('with-subchart', {
      'templates/a.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: harmless}\n',
      'charts/sub/Chart.yaml': 'apiVersion: v2\nname: sub\nversion: 1.0.0\n',
      'charts/sub/templates/t.yaml': job('{name: t, namespace: kube-system, annotations: {helm.sh/hook: test}}'),
      'charts/sub/templates/d.yaml': job('{name: d, namespace: kube-system, annotations: {helm.sh/hook: post-delete}}'),
    })
    const dependencies = 'dependencies: [{name: evil, version: 1.0.0, repository: "file:///etc"}]\n'
    await chart('dependent', { 'Chart.yaml': `apiVersion: v2\nname: dependent\nversion: 1.0.0\n${dependencies}` })
    operator = await stage.startOperator({
      config: await operatorAccount(),
      // Whose Collectors are reconciled: the stage's own namespace is the operator's here.
      namespace: team,
      operatorNamespace: stage.namespace,
      adminNamespaces: [stage.namespace],
      settings: {
        clusters: { development: { type: 'directory', location: stage.charts } },
        serviceAccounts: ['mighty'],
      },
    })
  })
  afterAll(() => stage?.close())

  let count = 0
  /** Writes a Collector in the team's namespace and returns what becomes of it. */
  async function attempt(parts: CollectorParts): Promise<{ reason: string; message: string }> {
    const key = { namespace: team, name: `attack-${count++}` }
    const { metadata: _builders, ...collector } = collectorOf({
      ...parts,
      tenant: { reference: team, instance: `i${count}`, ...parts.tenant },
    })
    await stage.client.create(Collectors, { ...collector, metadata: key })
    let found = { reason: '', message: '' }
    await stage.until(async () => {
      const collector = await stage.client.get(Collectors, key)
      const degraded = condition(collector, 'Degraded')
      found = { reason: degraded?.reason ?? '', message: degraded?.message ?? '' }
      // A real API server learns of rights a moment after they are granted.
      const isOver = degraded?.status === 'True' || collector.status?.phase === 'Available'
      return isOver && !found.message.includes('cannot impersonate')
    })
    await remove(key)
    return found
  }
  async function remove(key: { readonly namespace: string; readonly name: string }): Promise<void> {
    await stage.client.delete(Collectors, key)
    await stage.until(() => stage.client.get(Collectors, key).then(() => false, isNotFound))
  }
  const raw = (text: string) => ({
    collector: { name: 'injectable', configuration: configuration(JSON.stringify({ raw: text })) },
  })

  test.concurrent.each([
    [
      'an object in kube-system',
      job('{name: pwn, namespace: kube-system}'),
      'Job kube-system/pwn, in another namespace',
    ],
    [
      'a hook in kube-system',
      job('{name: h, namespace: kube-system, annotations: {helm.sh/hook: pre-install}}'),
      'Job kube-system/h, in another namespace (in a hook)',
    ],
    [
      'a cluster-scoped object',
      'apiVersion: v1\nkind: Namespace\nmetadata: {name: pwn}\n',
      'Namespace pwn, which is cluster-scoped',
    ],
    ['a namespace that is given twice', job('{name: t, namespace: TEAM, namespace: kube-system}'), 'Job kube-system/t'],
    [
      'metadata that is given twice',
      job('{name: m}\nmetadata: {name: m, namespace: kube-system}'),
      'Job kube-system/m',
    ],
    ['a namespace that is merged in', job('{name: m, <<: {namespace: kube-system}}'), 'cannot be checked'],
    ['a namespace with a tag', job('{name: g, namespace: !!binary a3ViZS1zeXN0ZW0=}'), 'cannot be checked'],
    ['a namespace by an alias', `x: &x kube-system\n${job('{name: l, namespace: *x}')}`, 'cannot be checked'],
    ['an escaped namespace', job('{name: e, "namespace": "kube\\u002dsystem"}'), 'Job kube-system/e'],
    ['a generated name', job('{generateName: g-, namespace: kube-system}'), 'Job kube-system/g-'],
  ])('cannot add %s to a manifest, and the error names it', async (_, text, message) => {
    const manifest = raw(text.replace('TEAM', team))
    // Even where the account may do more than it should.
    expect(await attempt({ ...manifest, spec: { serviceAccountName: 'mighty' } })).toEqual({
      reason: 'ObjectNotAllowed',
      message: expect.stringContaining(message),
    })
  })

  test.concurrent('cannot install into any namespace but that of the team', async () => {
    for (const reference of [victim, 'default', 'kube-system', stage.namespace, `new-${run}`]) {
      const found = await attempt({ collector: { name: 'log-collector' }, tenant: { reference, instance: 'in' } })
      expect(found.reason).toBe('TargetNotAllowed')
      expect(await readReleases(stage.client, { namespace: reference, name: 'log-collector-in' })).toEqual([])
    }
  })

  test.concurrent('is stopped by the rights of the account, before anything is installed', async () => {
    const found = await attempt(raw(job('{name: pwn, namespace: kube-system}')))
    expect(found).toEqual({ reason: 'HelmForbidden', message: expect.stringContaining('kube-system') })
  })

  test.concurrent.each([
    [
      'a list in a list',
      `apiVersion: v1\nkind: List\nitems:\n- ${flow(listOf(job('{name: n, namespace: kube-system}')))}\n`,
    ],
    ['a list of another kind', listOf(job('{name: n, namespace: kube-system}'), 'PodList')],
    ['a token', 'apiVersion: authentication.k8s.io/v1\nkind: TokenRequest\nmetadata: {name: mighty}\nspec: {}\n'],
  ])('cannot have %s created: Helm or the operator refuses it', async (_, text) => {
    const found = await attempt({ ...raw(text), spec: { serviceAccountName: 'mighty' } })
    expect(found.reason).toMatch(/^(HelmObjectRefused|ObjectNotAllowed)$/)
    await expect(stage.client.get(Jobs, { namespace: 'kube-system', name: 'n' })).rejects.toSatisfy(isNotFound)
  })

  test.concurrent('cannot use hooks of subcharts outside of the namespace, whenever they would run', async () => {
    const found = await attempt({ collector: { name: 'with-subchart' }, spec: { serviceAccountName: 'mighty' } })
    expect(found).toEqual({ reason: 'ObjectNotAllowed', message: expect.stringContaining('Job kube-system/t') })
    expect(found.message).toContain('Job kube-system/d, in another namespace (in a hook)')
  })

  /** A record as Helm keeps it, which carries the mark of a Collector. */
  const markedRecord = (namespace: string, name: string, collector: { namespace: string; name: string }) =>
    encodeRelease({
      namespace,
      name,
      revision: 1,
      status: 'deployed',
      manifest: '',
      chart: { name: 'treasure-chest', version: '7.7.7' },
      ...revisionMarks(collector, { chartDigest: DIGEST, valuesDigest: DIGEST }),
    })

  test.concurrent('cannot learn anything about a release in a namespace that does not accept it', async () => {
    const key = { namespace: team, name: 'nosy' }
    await stage.client.create(Secrets, markedRecord(victim, 'log-collector-eu1', { namespace: victim, name: 'a' }))
    for (const serviceAccountName of ['mighty', 'not-allowed']) {
      const tenant = { reference: victim, instance: 'eu1' }
      const written = collectorOf({ collector: { name: 'log-collector' }, tenant, spec: { serviceAccountName } })
      await stage.client.create(Collectors, { ...written, metadata: key })
      await stage.until(async () => (await stage.client.get(Collectors, key)).status?.phase === 'Degraded')
      const { status } = await stage.client.get(Collectors, key)
      expect(status).not.toHaveProperty('chart')
      expect(status).not.toHaveProperty('revision')
      expect(JSON.stringify(status)).not.toContain('7.7.7')
      await remove(key)
    }
  })

  test('cannot keep the Collector of another team from being deleted', async () => {
    const other = { namespace: team, name: 'innocent' }
    // Users who may write Secrets in a namespace may label them, and the account of it may not delete what is listed.
    await stage.client.create(Secrets, markedRecord(victim, 'trap', other))
    const written = collectorOf({ collector: { name: 'log-collector' }, tenant: { reference: team } })
    await stage.client.create(Collectors, { ...written, metadata: other })
    await stage.until(async () => (await stage.client.get(Collectors, other)).status?.phase === 'Available')
    await remove(other)
    expect(await readReleases(stage.client, { namespace: victim, name: 'trap' })).toHaveLength(1)
  })

  test('cannot have a release of another owner uninstalled by writing a status', async () => {
    const key = { namespace: team, name: 'forger' }
    await stage.grantAccount(victim, `${name}-tenant`)
    await stage.client.create(Secrets, markedRecord(victim, 'wanted', { namespace: victim, name: 'b' }))
    const written = collectorOf({ collector: { name: 'log-collector' }, tenant: { reference: team } })
    await stage.client.create(Collectors, { ...written, metadata: key })
    await stage.until(async () => (await stage.client.get(Collectors, key)).status?.phase === 'Available')
    const forged = ['wanted', '-x', '../y'].map((release) => ({ namespace: victim, name: release }))
    const elsewhere = ['..', 'kube-system:admin', 'KUBE-SYSTEM'].map((namespace) => ({ namespace, name: 'wanted' }))
    const patch = { status: { releases: [...forged, ...elsewhere] } }
    await stage.client.patch(Collectors, key, { type: 'merge', patch }, { subresource: 'status' })
    await remove(key)
    expect(await readReleases(stage.client, { namespace: victim, name: 'wanted' })).toHaveLength(1)
  })

  test.concurrent('cannot look up Secrets that the account may not read', async () => {
    for (const values of ['{}', `in: ${victim}`, 'in: kube-system']) {
      const found = await attempt({ collector: { name: 'curious', configuration: configuration(values) } })
      expect(found).toEqual({ reason: 'HelmForbidden', message: expect.stringContaining('secrets') })
      expect(found.message).not.toContain('open-sesame')
    }
    await expect(stage.client.get(ConfigMaps, { namespace: team, name: 'curious-i1' })).rejects.toSatisfy(isNotFound)
  })

  test.concurrent('cannot act as another account', async () => {
    const found = await attempt({ collector: { name: 'log-collector' }, spec: { serviceAccountName: 'default' } })
    expect(found).toEqual({ reason: 'InvalidSpec', message: expect.stringContaining('use one of collector') })
  })

  test.concurrent('cannot read values or credentials from where the account may not', async () => {
    const outside = { secretName: `../../${victim}/secrets/treasure`, key: 'key' }
    const { metadata: _builders, ...collector } = collectorOf({ collector: { configurationFrom: outside } })
    const metadata = { namespace: team, name: 'outside' }
    await expect(stage.client.create(Collectors, { ...collector, metadata })).rejects.toThrow(/secretName/)
    const missing = { secretName: 'treasure', key: 'key' }
    const found = await attempt({ collector: { name: 'log-collector', configurationFrom: missing } })
    expect(found).toEqual({
      reason: 'InvalidConfiguration',
      message: expect.stringContaining(`Secret treasure does not exist in ${team}`),
    })
  })

  test.concurrent.each([
    [
      'custom resource definitions, or any other object in a crds folder',
      'with-crds',
      'ObjectNotAllowed',
      /Job kube-system\/pwn.*pwns\.example\.org|pwns\.example\.org.*Job kube-system\/pwn/,
    ],
    ['dependencies from the disk of the operator', 'dependent', 'HelmChartInvalid', /missing in charts/],
    ['a name that could be a flag', '-x', 'InvalidSpec', /spec\.collector\.name/],
  ])('cannot use %s', async (_, chartName, reason, message) => {
    const { metadata: _builders, ...collector } = collectorOf({
      collector: { name: chartName },
      tenant: { reference: team },
    })
    if (chartName.startsWith('-')) {
      const metadata = { namespace: team, name: 'flag' }
      await expect(stage.client.create(Collectors, { ...collector, metadata })).rejects.toThrow(/spec\.collector\.name/)
      return
    }
    expect(await attempt({ collector: { name: chartName } })).toEqual({
      reason,
      message: expect.stringMatching(message),
    })
  })

  test.concurrent('cannot use a chart of another source', async () => {
    for (const url of ['file:///etc/passwd', 'oci://registry.example.com/a', 'https://charts.example.com']) {
      const found = await attempt({ collector: { name: 'log-collector', chart: { type: 'oci', url } } })
      expect(found).toEqual({ reason: 'InvalidSpec', message: expect.stringContaining('spec.collector.chart') })
    }
  })

  test('never gets its own text into the arguments of helm', async () => {
    const values = JSON.stringify({ 'post-renderer': '/bin/sh', postRenderer: '/bin/sh', set: 'a=b', kubeconfig: '/x' })
    await attempt({ collector: { name: 'log-collector', configuration: configuration(values) } })
    const flags = operator.commands.flatMap((args) => args.filter((arg) => arg.startsWith('-')))
    const names = flags.map((flag) => flag.replace(/=.*/s, ''))
    expect([...new Set(names)].toSorted()).toEqual([
      '--description',
      '--dry-run',
      '--keep-history',
      '--labels',
      '--namespace',
      '--output',
      '--skip-crds',
      '--timeout',
      '--values',
    ])
    const described = flags.filter((flag) => flag.startsWith('--description'))
    expect(described.every((flag) => /^--description=Collector [-a-z0-9]+\/[-a-z0-9]+$/.test(flag))).toBe(true)
    expect([...new Set(flags.filter((flag) => flag.startsWith('--values')))]).toEqual(['--values=-'])
  })
})
