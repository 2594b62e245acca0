/** A generated project gets a second version: its objects survive the upgrade, an uninstall and another install. */
import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { runOperatorCommandLine } from '@reeve/cli'
import { runCaptured } from '@reeve/cli/testing'
import { helmsToTry } from '@reeve/client-binaries'
import {
  accountToken,
  type ClusterUnderTest,
  openCluster,
  redirectConversion,
  redirectWebhooks,
  runManager,
  startReadyService,
} from '@reeve/cluster-under-test'
import { crdManifest, defineConversion, defineCrd } from '@reeve/crd'
import { sleep } from '@reeve/http'
import {
  CustomResourceDefinitions,
  connect,
  type DiscoveringClient,
  type KubeObject,
  type Resource,
  type UnknownObject,
} from '@reeve/kube'
import { allow, defineOperator, type Operator, validatingWebhook } from '@reeve/runtime'
import { conversionWebhook } from '@reeve/runtime/webhooks'
import { Type } from 'typebox'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse, parseAllDocuments, stringify } from 'yaml'
import { generated } from '../../../packages/cli/template/dev/generate.ts'
import { operator as firstOperator } from '../../../packages/cli/template/src/operator.ts'
import { SprocketCrd as FirstCrd } from '../../../packages/cli/template/src/sprocket.ts'
import { absolutePath } from '../src/generated-files.ts'

const NAME = 'sprocket-operator'

/** The second release calls the message a text. */
const first = FirstCrd.versions.v1
const SecondCrd = defineCrd({
  ...FirstCrd,
  versions: {
    v1: { ...first, storage: false },
    v2: { ...first, spec: Type.Object({ text: Type.String(), isPublic: Type.Boolean() }), storage: true },
  },
})
const convert = defineConversion(SecondCrd, 'v2', {
  v1: {
    toHub: ({ spec: { message, ...spec }, ...rest }) => ({ ...rest, spec: { ...spec, text: message } }),
    fromHub: ({ spec: { text, ...spec }, ...rest }) => ({ ...rest, spec: { ...spec, message: text } }),
  },
})
const [V1, V2] = [SecondCrd.resource('v1'), SecondCrd.resource('v2')]
const secondOperator = defineOperator({
  name: NAME,
  crds: [crdManifest(SecondCrd)],
  controllers: [{ for: V2, render: () => [] }],
  webhooks: [
    validatingWebhook('/validate', () => allow(), { for: V2 }),
    conversionWebhook('/convert', [{ group: SecondCrd.group, kind: SecondCrd.kind, convert }]),
  ],
})

const helms = await helmsToTry()
let cluster: ClusterUnderTest
let admin: DiscoveringClient
let folder: string

beforeAll(async () => {
  cluster = await openCluster({ isExclusive: true })
  admin = await connect({ kubeconfig: cluster.kubeconfigPath, fieldManager: 'conversion-test' })
  folder = await mkdtemp(join(tmpdir(), 'reeve-project-'))
  // What `npm run generate` writes after the change.
  await cp(absolutePath('packages/cli/template'), folder, { recursive: true })
  for (const [path, content] of Object.entries(generated(secondOperator))) {
    await writeFile(join(folder, path), stringify(content, { aliasDuplicateObjects: false }))
  }
})
afterAll(async () => {
  await admin.close()
  await cluster.close()
  await rm(folder, { recursive: true, force: true })
})

/** Whatever fails at first: the API server learns of webhooks and versions a moment after they are written. */
async function eventually<T>(attempt: () => Promise<T>): Promise<T> {
  const deadline = AbortSignal.timeout(30_000)
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (deadline.aborted) throw error
      await sleep(100)
    }
  }
}

/** A kubeconfig of an account. */
async function kubeconfigOf(namespace: string, account: string): Promise<string> {
  const config = parse(await readFile(cluster.kubeconfigPath, 'utf8'))
  const token = await accountToken(cluster, namespace, account)
  const path = join(folder, `${account}.kubeconfig`)
  const users = config.users.map(({ name }: { name: string }) => ({ name, user: { token } }))
  await writeFile(path, stringify({ ...config, users }))
  return path
}

/**
 * Runs an operator as its chart installs it. No network leads to its Service: the API server gets the address of one that
 * only has ready pods.
 */
async function start(operator: Operator<never>, version: string, namespace: string): Promise<AsyncDisposable> {
  await using started = new AsyncDisposableStack()
  const client = await connect({ kubeconfig: await kubeconfigOf(namespace, NAME), fieldManager: NAME })
  started.defer(() => client.close())
  const service = started.use(await startReadyService())
  const pod = operator.create({
    client,
    healthAddress: { host: '127.0.0.1', port: 0 },
    leaderElection: { lease: { namespace, name: NAME }, identity: 'test' },
    upgradeCrds: { version, location: { service: { namespace, name: NAME } } },
    webhook: {
      address: { host: '127.0.0.1', port: 0 },
      certificate: { secret: { namespace, name: `${NAME}-certificate` }, hosts: ['127.0.0.1'] },
      inject: { validating: [NAME], customResourceDefinitions: [FirstCrd.name] },
    },
  })
  const { manager, webhooks } = pod
  service.pods.add(pod)
  runManager(manager, started)
  // CRDs are upgraded before webhooks are served.
  await webhooks?.server.address()
  const address = { origin: service.url }
  await redirectWebhooks(cluster, NAME, address)
  // Helm cannot upgrade what has another address; it creates it again.
  const path = `/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/${NAME}`
  started.defer(async () => void (await cluster.raw.send({ method: 'DELETE', path })))
  const { spec } = await admin.get(CustomResourceDefinitions, { name: FirstCrd.name })
  if (spec.conversion?.strategy === 'Webhook') await redirectConversion(cluster, FirstCrd.name, address)
  await webhooks?.certificates?.check(AbortSignal.timeout(30_000))
  return started.move()
}

/** The Job before an uninstall, as a node would run it: with the arguments and the account of the hook. */
async function runHook(hooks: string, operator: Operator<never>, namespace: string): Promise<void> {
  const objects = parseAllDocuments(hooks).map((document) => document.toJS() as UnknownObject)
  const job = objects.find(({ kind }) => kind === 'Job') as unknown as {
    spec: { template: { spec: { serviceAccountName: string; containers: [{ args: string[] }] } } }
  }
  for (const object of objects.filter(({ kind }) => kind !== 'Job')) {
    const metadata = { ...object.metadata, ...(object.kind === 'ServiceAccount' && { namespace }) }
    await admin.apply(await admin.resourceFor(object), { ...object, metadata }, { force: true })
  }
  const { serviceAccountName, containers } = job.spec.template.spec
  const kubeconfig = await kubeconfigOf(namespace, serviceAccountName)
  const about = { version: '1.1.0', description: '' }
  await eventually(async () => {
    const { code, stderr } = await runCaptured(
      (argv, parts) => runOperatorCommandLine(operator, about, argv, parts),
      [...containers[0].args, '--kubeconfig', kubeconfig],
    )
    if (code !== 0) throw new Error(stderr)
  })
}

async function specsIn(resource: Resource<KubeObject>, namespace: string): Promise<object> {
  const { items } = await admin.listAll<KubeObject & { readonly spec?: object }>(resource, { namespace })
  return Object.fromEntries(items.map(({ metadata, spec }) => [metadata.name, spec]))
}

const sprocket = (version: string, namespace: string, name: string, spec: object) => ({
  apiVersion: `${FirstCrd.group}/${version}`,
  kind: FirstCrd.kind,
  metadata: { namespace, name },
  spec,
})

describe.skipIf(helms[0]?.path === undefined)('a project with a second version (skipped without helm)', () => {
  it.each(helms)(
    'keeps its objects readable through upgrade, uninstall and install, by $name',
    async ({ path = '' }) => {
      const namespace = await cluster.createNamespace()
      const helm = async (...args: readonly string[]) => {
        const env = { ...process.env, KUBECONFIG: cluster.kubeconfigPath }
        return (await promisify(execFile)(path, [...args, '-n', namespace], { env })).stdout
      }
      // Types of objects are those of the schema; these are for several versions.
      const [v1, v2] = [V1, V2] as unknown as readonly Resource<KubeObject>[]
      if (v1 === undefined || v2 === undefined) throw new Error('unreachable')
      await helm('install', 'first', absolutePath('packages/cli/template/chart'))
      {
        await using _operator = await start(firstOperator as unknown as Operator<never>, '1.0.0', namespace)
        await eventually(() => admin.create(v1, sprocket('v1', namespace, 'old', { message: 'hello' })))
      }

      const second = secondOperator as unknown as Operator<never>
      await helm('upgrade', 'first', join(folder, 'chart'))
      const converted = { old: { text: 'hello', isPublic: true }, new: { text: 'bye', isPublic: false } }
      {
        await using _operator = await start(second, '1.1.0', namespace)
        await eventually(() => admin.create(v2, sprocket('v2', namespace, 'new', converted.new)))
        expect(await specsIn(v2, namespace)).toEqual(converted)
        await runHook(await helm('get', 'hooks', 'first'), second, namespace)
        await helm('uninstall', 'first')
      }
      // Nobody converts anymore.
      expect(await eventually(() => specsIn(v2, namespace))).toEqual(converted)
      await expect(admin.listAll(v1, { namespace })).rejects.toMatchObject({ status: 404 })

      await helm('install', 'another', join(folder, 'chart'))
      expect(await specsIn(v2, namespace)).toEqual(converted)
      {
        await using _operator = await start(second, '1.1.0', namespace)
        expect(await eventually(() => specsIn(v1, namespace))).toEqual({
          old: { message: 'hello', isPublic: true },
          new: { message: 'bye', isPublic: false },
        })
      }
      await helm('uninstall', 'another', '--no-hooks')
      await admin.delete(CustomResourceDefinitions, { name: FirstCrd.name })
    },
  )
})
