/** The archive of an installation with planted secrets, written by the command. */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { unpackZip } from '@reeve/archives'
import { runCaptured } from '@reeve/cli/testing'
import { type EmbeddedCluster, startEmbeddedCluster } from '@reeve/embedded-cluster'
import { SimulatedClock } from '@reeve/http/testing'
import {
  type CustomResourceDefinition,
  CustomResourceDefinitions,
  createClient,
  Events,
  Pods,
  type UnknownObject,
} from '@reeve/kube'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parse } from 'yaml'
import { main } from '../../src/cli/main.ts'
import { crdManifests } from '../../src/index.ts'
import { readFolder } from '../support/read-folder.ts'

const COMMAND = fileURLToPath(new URL('../../bin/dynatrace-operator.js', import.meta.url))
const NAMESPACE = 'dynatrace'
/** None of these may be in an archive: a token of a known form, a password without any form, one in a variable. */
const PLANTED = [
  'dt0c01.ABCDEFGHIJKLMNOPQRSTUVWX.LONGSECRETPART',
  'correct horse battery',
  'variable-value',
  'hunter22',
]
const [TOKEN = '', PASSWORD = '', VARIABLE = '', PROXY_PASSWORD = ''] = PLANTED

let cluster: EmbeddedCluster
let folder: string
let kubeconfig: string

const named = (kind: string, name: string, content: object = {}, more: object = {}): UnknownObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { namespace: NAMESPACE, name, ...more },
  ...content,
})

const pod = (name: string, labels: Record<string, string>, annotations: Record<string, string>, container = 'main') =>
  named(
    'Pod',
    name,
    { spec: { containers: [{ name: container, image: 'x:1', env: [{ name: 'DB_PASSWORD', value: VARIABLE }] }] } },
    { labels, annotations },
  )

const own = { 'app.kubernetes.io/name': 'dynatrace-operator' }
const managed = { 'app.kubernetes.io/managed-by': 'dynatrace-operator' }

function objects(): readonly UnknownObject[] {
  const data = { apiToken: Buffer.from(TOKEN).toString('base64'), password: Buffer.from(PASSWORD).toString('base64') }
  const files = { '/var/lib/dynatrace/remotepluginmodule/log/extensions/a/ext.log': `used ${PASSWORD}\n` }
  return [
    named('Secret', 'dynakube', { data }),
    named('ConfigMap', 'settings', { data: { url: `http://user:${PROXY_PASSWORD}@proxy:3128`, note: PASSWORD } }),
    pod('operator-1', own, { 'simulator.reeve.dev/logs': `starting\ntoken ${TOKEN} password ${PASSWORD}\nready` }),
    pod('agent-1', managed, { 'simulator.reeve.dev/logs': 'agent' }),
    pod('crashed-1', managed, { 'simulator.reeve.dev/fail': 'CrashLoopBackOff' }),
    pod(
      'extensions-1',
      { ...managed, 'app.kubernetes.io/name': 'dynatrace-extension-controller' },
      { 'simulator.reeve.dev/files': JSON.stringify(files) },
      'extension-controller',
    ),
  ]
}

/** The CRDs without their schemas, which would be most of every archive. */
function definitions(): readonly CustomResourceDefinition[] {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  // The manifests keep their spec open; the cluster checks it.
  const manifests = crdManifests(NAMESPACE) as unknown as readonly CustomResourceDefinition[]
  return manifests.map(({ spec, ...manifest }) => ({
    ...manifest,
    spec: { ...spec, versions: spec.versions.map((version) => ({ ...version, schema })) },
  }))
}

beforeAll(async () => {
  // Time passes only here: a container that crashes is restarted after ten seconds.
  const clock = new SimulatedClock({ startMs: Date.now() })
  cluster = await startEmbeddedCluster({ authorization: 'AlwaysAllow', clock })
  folder = await mkdtemp(join(tmpdir(), 'reeve-archive-'))
  kubeconfig = join(folder, 'kubeconfig')
  await cluster.writeKubeconfig(kubeconfig)
  const client = createClient({ transport: cluster.transport, clock })
  const apply = async (object: UnknownObject) => {
    await client.apply(await client.resourceFor(object), object, { force: true, fieldManager: 'test' })
  }
  const labels = { 'dynakube.internal.dynatrace.com/instance': 'dynakube' }
  for (const [name, more] of [
    [NAMESPACE, {}],
    ['shop', { labels }],
    ['plain', {}],
  ] as const) {
    await apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, ...more } })
  }
  for (const definition of definitions()) await client.create(CustomResourceDefinitions, definition)
  for (const object of objects()) await apply(object)
  await client.create(Events, {
    ...{ apiVersion: 'v1', kind: 'Event', metadata: { namespace: NAMESPACE, name: 'warned' } },
    ...{ involvedObject: { namespace: NAMESPACE }, type: 'Warning', reason: 'Failed', message: `rejected ${TOKEN}` },
  })
  await clock.runUntil(async () => {
    const { items } = await client.list(Pods, { namespace: NAMESPACE })
    const restarts = items.map(({ status }) => status?.containerStatuses?.[0]?.restartCount ?? 0)
    return items.every(({ status }) => status?.phase === 'Running') && Math.max(...restarts) > 0
  })
})
afterAll(async () => {
  await cluster?.stop()
  await rm(folder, { recursive: true, force: true })
})

/** Runs the command, and reads the archive. */
async function collect(name: string, args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
  const file = join(folder, `${name}.zip`)
  const words = ['support-archive', '-n', NAMESPACE, '--file', file, ...args]
  const { code, stdout, stderr } = await runCaptured(main, words, { env: { KUBECONFIG: kubeconfig, ...env } })
  const target = join(folder, name)
  await mkdir(target)
  await unpackZip(file, target)
  return { code, stdout, stderr, files: await readFolder(target) }
}

it('a support archive has logs, files, objects and a report, and no secret', async () => {
  const { code, stdout, stderr, files } = await collect('all')
  expect([code, stdout]).toEqual([0, ''])
  expect([...files.keys()]).toEqual(
    expect.arrayContaining([
      'operator-version.txt',
      'logs/operator-1/main.log',
      'logs/agent-1/main.log',
      'logs/crashed-1/main_previous.log',
      'logs/extensions-1/ls.txt',
      'logs/extensions-1/var/lib/dynatrace/remotepluginmodule/log/extensions/a/ext.log',
      'manifests/dynatrace/namespace-dynatrace.yaml',
      'manifests/injected_namespaces/namespace-shop.yaml',
      'manifests/dynatrace/pod/operator-1.yaml',
      'manifests/dynatrace/configmap/settings.yaml',
      'manifests/dynatrace/event/warned.yaml',
      'manifests/crds/customresourcedefinition-dynakubes.yaml',
      'manifests/crds/customresourcedefinition-edgeconnects.yaml',
      'troubleshoot.txt',
      'supportarchive_console.log',
    ]),
  )
  // A container that never restarted has no previous log, and that is not worth a line.
  expect(files.has('logs/operator-1/main_previous.log')).toBe(false)
  expect(stderr).not.toContain('operator-1/main_previous')
  expect(parse(files.get('manifests/injected_namespaces/namespace-shop.yaml') ?? '')).toMatchObject({
    Object: { kind: 'Namespace', metadata: { name: 'shop' } },
  })
  expect(files.has('manifests/injected_namespaces/namespace-plain.yaml')).toBe(false)
  expect([...files.keys()].filter((path) => /\/secret\//.test(path))).toEqual([])
  expect(files.get('logs/operator-1/main.log')).toBe('starting\ntoken [redacted] password [redacted]\nready\n')
  expect(files.get('operator-version.txt')).toMatch(
    /^version: .+\ngitCommit: .*\nbuildDate: .*\ngoVersion .+\nplatform .+\/.+\n$/,
  )
  expect(parse(files.get('manifests/dynatrace/pod/operator-1.yaml') ?? '')).toMatchObject({
    Object: { kind: 'Pod', spec: { containers: [{ env: [{ name: 'DB_PASSWORD', value: '[redacted]' }] }] } },
  })
  expect(files.get('troubleshoot.txt')).toContain('[namespace ] \t ✓  using namespace dynatrace')
  expect(stderr).toContain('[support-archive]\tcollected logs/operator-1/main.log')
  for (const [path, text] of [...files, ['stderr', stderr] as const]) {
    for (const secret of PLANTED) expect(text.includes(secret), `${path} contains ${secret}`).toBe(false)
    expect(text.includes(Buffer.from(PASSWORD).toString('base64')), path).toBe(false)
  }
})

it('a support archive keeps the rest when a log and a kind cannot be read', async () => {
  const always = { times: Number.POSITIVE_INFINITY }
  cluster.faults.inject({ subresource: 'log', name: 'operator-1' }, { kind: 'status', code: 403 }, always)
  cluster.faults.inject({ resource: 'configmaps' }, { kind: 'status', code: 500 }, always)
  const { code, files } = await collect('partial')
  cluster.faults.clear()
  expect(code).toBe(0)
  expect(files.has('logs/operator-1/main.log')).toBe(false)
  expect(files.get('logs/agent-1/main.log')).toBe('agent\n')
  expect(files.get('supportarchive_console.log')).toMatch(/logs\/operator-1\/main\.log is not in the archive: .*403/)
  expect(files.get('supportarchive_console.log')).toMatch(/ConfigMap objects is not in the archive/)
})

it('a support archive leaves out what the flags and the installed modules exclude', async () => {
  const own = await collect('own', ['--managed-logs=false', '--loadsim-files', '2', '--loadsim-file-size', '1'])
  const logs = [...own.files.keys()].filter((path) => path.startsWith('logs/')).toSorted()
  expect(logs).toEqual(['logs/loadsim/loadsim-0.log', 'logs/loadsim/loadsim-1.log', 'logs/operator-1/main.log'])
  expect(own.files.get('logs/loadsim/loadsim-1.log')?.length).toBe(1024 * 1024)
  const none = await collect('none', [], { 'modules.json': '{"supportability":false}' })
  expect([...none.files.keys()].filter((path) => path.startsWith('logs/'))).toEqual([])
  expect(none.files.get('supportarchive_console.log')).toContain('rbac.supportability')
})

it('a support archive has no manifests, not even CRDs, when the cluster shows none of its objects', async () => {
  // There are objects of these kinds only.
  for (const resource of ['namespaces', 'pods', 'configmaps', 'events']) {
    const always = { times: Number.POSITIVE_INFINITY }
    cluster.faults.inject({ verb: 'list', resource }, { kind: 'status', code: 403 }, always)
  }
  const { code, files } = await collect('hidden')
  cluster.faults.clear()
  expect(code).toBe(0)
  expect([...files.keys()].toSorted()).toEqual([
    'operator-version.txt',
    'supportarchive_console.log',
    'troubleshoot.txt',
  ])
  expect(files.get('supportarchive_console.log')).toContain('Namespace objects is not in the archive')
})

it('a support archive refuses to write to a terminal, and explains how to get a file', async () => {
  const { code, stdout, stderr } = await runCaptured(main, ['support-archive'], { env: { KUBECONFIG: kubeconfig } })
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toContain('--stdout > archive.zip')
})

it('a support archive writes a valid archive to standard output, and its progress to standard error only', async () => {
  const env = { PATH: process.env.PATH, KUBECONFIG: kubeconfig }
  const words = [COMMAND, 'support-archive', '--stdout', '-n', NAMESPACE]
  const options = { env, encoding: 'buffer', maxBuffer: 64 * 1024 * 1024 } as const
  const { stdout, stderr } = await promisify(execFile)(process.execPath, words, options)
  const file = join(folder, 'stdout.zip')
  await writeFile(file, stdout)
  await mkdir(join(folder, 'stdout'))
  await unpackZip(file, join(folder, 'stdout'))
  const names = entryNames(stdout)
  expect([names[0], names.at(-1)]).toEqual(['operator-version.txt', 'supportarchive_console.log'])
  expect(names).toContain('logs/operator-1/main.log')
  const lines = stderr.toString().trimEnd().split('\n')
  expect(lines.filter((line) => !line.startsWith('[support-archive]\t'))).toEqual([])
  // This cluster has no webhook configurations.
  expect(lines.at(-1)).toBe('[support-archive]\tcomplete but for 2 parts')
})

/** The names in the central directory, in the order of the archive. */
function entryNames(zip: Buffer): readonly string[] {
  const names: string[] = []
  const end = zip.lastIndexOf('PK\u0005\u0006', undefined, 'latin1')
  let offset = zip.readUInt32LE(end + 16)
  while (offset < end && zip.toString('latin1', offset, offset + 4) === 'PK\u0001\u0002') {
    const [name, extra, comment] = [28, 30, 32].map((at) => zip.readUInt16LE(offset + at)) as [number, number, number]
    names.push(zip.toString('utf8', offset + 46, offset + 46 + name))
    offset += 46 + name + extra + comment
  }
  return names
}
