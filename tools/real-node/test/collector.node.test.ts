import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { ChartServer, packChart } from '@reeve/helm/testing'
import { eventually, NODE_IP, SHELL_IMAGE } from '@reeve/real-node'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { condition } from './support/conditions.ts'
import { recordMemory } from './support/figures.ts'
import { apply, get, helm, type Json, kubectl, list, podReady, responseOf } from './support/kubectl.ts'
import { imageRepository } from './support/node-images.ts'

const operator = new URL('../../../operators/collector/', import.meta.url)
const CHART = 'log-collector'
const FILES = ['values.yaml', ...['_names.tpl', 'deployment.yaml', 'secret.yaml', 'service.yaml'].map(template)]
const OPERATOR = 'collectors'
const TENANT = 'acme'
const RELEASE = `${CHART}-eu1`

let charts: ChartServer

beforeAll(async () => {
  charts = await ChartServer.start(undefined, NODE_IP)
  for (const version of ['1.0.0', '1.1.0']) charts.add(CHART, version, await sampleChart(version))
  await kubectl('create', 'namespace', OPERATOR)
  const authority = { name: 'chart-repository', namespace: OPERATOR }
  await apply({ apiVersion: 'v1', kind: 'Secret', metadata: authority, stringData: { 'ca.crt': charts.certificate } })
  const development = { type: 'repository', location: charts.repository, credentials: authority }
  const values = [
    `image.repository=${imageRepository('collector-operator')}`,
    `settings.clusters.development=${JSON.stringify(development)}`,
  ]
  const settings = values.flatMap((value) => ['--set-json', value.replace(/=([^{].*)$/, '="$1"')])
  await helm('install', OPERATOR, fileURLToPath(new URL('chart', operator)), '--namespace', OPERATOR, ...settings)
  await kubectl('rollout', 'status', `deployment/${OPERATOR}`, '--namespace', OPERATOR, '--timeout', '280s')
  await kubectl('create', 'namespace', TENANT)
  await kubectl('create', 'serviceaccount', 'collector', '--namespace', TENANT)
  const account = ['--clusterrole', `${OPERATOR}-tenant`, '--serviceaccount', `${TENANT}:collector`]
  await kubectl('create', 'rolebinding', 'collector', '--namespace', TENANT, ...account)
})
afterAll(async () => {
  await kubectl('delete', 'collectors', '--all', '--namespace', OPERATOR, '--timeout', '280s')
  await helm('uninstall', OPERATOR, '--namespace', OPERATOR, '--wait')
  await kubectl('delete', 'namespace', OPERATOR, TENANT)
  await charts[Symbol.asyncDispose]()
})

it('the Collector operator installs a release whose pod responds through its Service, and agrees with helm history', async () => {
  await apply(collector({ version: '1.0.0' }))
  await available(1)
  const [pod] = await pods()
  await podReady(TENANT, pod.metadata.name)
  await apply({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'reader', namespace: TENANT },
    spec: {
      containers: [{ name: 'shell', image: SHELL_IMAGE, command: ['sleep', '100000'] }],
      terminationGracePeriodSeconds: 1,
    },
  })
  await podReady(TENANT, 'reader')
  const url = `http://${RELEASE}.${TENANT}.svc.cluster.local:8080/`
  expect(await responseOf(url, { namespace: TENANT, pod: 'reader' })).toBe(`${pod.metadata.name}\n`)
  expect(await history()).toEqual([{ revision: 1, status: 'deployed', chart: `${CHART}-1.0.0` }])
})

it('the Collector operator upgrades the release, whose pod is replaced', async () => {
  const [before] = await pods()
  await apply(collector({ version: '1.1.0', values: { pipeline: { receivers: ['otlp'] } } }))
  await available(2)
  await eventually('the pod is replaced', async () => {
    const names = (await pods()).map(({ metadata }) => metadata.name)
    return names.length === 1 && names[0] !== before.metadata.name
  })
  expect(await history()).toEqual([
    { revision: 1, status: 'superseded', chart: `${CHART}-1.0.0` },
    { revision: 2, status: 'deployed', chart: `${CHART}-1.1.0` },
  ])
})

it('the Collector operator reports a release whose container crashes', async () => {
  await apply(collector({ version: '1.1.0', values: { image: { repository: 'reeve.test/shell', tag: '1' } } }))
  const crashing = await eventually('the Collector is not available', async () => {
    const object = await get('collector', OPERATOR, 'acme-logs')
    return condition(object, 'Progressing')?.reason === 'WaitingForWorkloads' && object
  })
  expect(condition(crashing, 'Ready').status).toBe('False')
  expect(crashing.status.revision).toBe(3)
  await eventually('the new container crashes', async () =>
    (await pods()).some(({ status }) => status.containerStatuses?.[0].restartCount > 0),
  )
  const revisions = await history()
  expect(revisions.at(-1)).toEqual({ revision: 3, status: 'deployed', chart: `${CHART}-1.1.0` })
})

it('the Collector operator uninstalls the release with its Collector', async () => {
  await kubectl('delete', 'collector', 'acme-logs', '--namespace', OPERATOR, '--timeout', '280s')
  expect(JSON.parse(await helm('list', '--namespace', TENANT, '--output', 'json'))).toEqual([])
  await eventually('its pods are gone', async () => (await pods()).length === 0)
})

it('the Collector operator stays within its memory limits', async () => {
  expect(await recordMemory(OPERATOR)).toEqual([])
})

/** A Collector with the image of the web server, unless the values have another. */
function collector({ version, values = {} }: { version: string; values?: object }): object {
  const image = { repository: imageRepository('web-server'), tag: '1' }
  const configuration = Buffer.from(JSON.stringify({ image, ...values })).toString('base64')
  return {
    apiVersion: 'example.com/v1alpha',
    kind: 'Collector',
    metadata: { name: 'acme-logs', namespace: OPERATOR },
    spec: {
      collector: { name: CHART, version, configuration },
      tenant: { id: '42', reference: 'ACME', instance: 'eu1' },
      cluster: 'development',
    },
  }
}

async function available(revision: number): Promise<void> {
  let last: Json
  try {
    await eventually(`revision ${revision} is available`, async () => {
      last = await get('collector', OPERATOR, 'acme-logs')
      return last?.status?.revision === revision && condition(last, 'Ready')?.status === 'True'
    })
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : error}\n${JSON.stringify(last?.status, undefined, 1)}`)
  }
}

function pods(): Promise<readonly Json[]> {
  return list('pods', TENANT, '--selector', `app.kubernetes.io/instance=${RELEASE}`)
}

async function history(): Promise<readonly Json[]> {
  const records = JSON.parse(await helm('history', RELEASE, '--namespace', TENANT, '--output', 'json'))
  return records.map(({ revision, status, chart }: Json) => ({ revision, status, chart }))
}

async function sampleChart(version: string): Promise<Buffer> {
  const contents = await Promise.all(
    FILES.map((file) => readFile(new URL(`charts/${CHART}/${file}`, operator), 'utf8')),
  )
  const files = Object.fromEntries(FILES.map((file, index) => [file, contents[index] ?? '']))
  const description = `apiVersion: v2\nname: ${CHART}\nversion: ${version}\nappVersion: "1"\n`
  return packChart({ name: CHART, version }, { ...files, 'Chart.yaml': description })
}

function template(name: string): string {
  return `templates/${name}`
}
