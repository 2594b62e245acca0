/** People's own tools, unmodified: what they print is what is checked. */
import { execFile, spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findClientBinary } from '@reeve/client-binaries'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type EmbeddedCluster, startEmbeddedCluster } from '../src/index.ts'

const kubectl = await findClientBinary('kubectl')
const helm = await findClientBinary('helm')
let cluster: EmbeddedCluster
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-clients-'))
  cluster = await startEmbeddedCluster({ authorization: 'RBAC' })
  await cluster.writeKubeconfig(join(folder, 'kubeconfig'))
})

afterAll(async () => {
  await cluster.stop()
  await rm(folder, { recursive: true, force: true })
})

interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

function environment(): Record<string, string> {
  return { KUBECONFIG: join(folder, 'kubeconfig'), HOME: folder, PATH: process.env.PATH ?? '' }
}

function run(binary: string | undefined, args: readonly string[], input = ''): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = execFile(binary ?? '', [...args], { env: environment(), cwd: folder }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr })
    })
    child.stdin?.end(input)
  })
}

/** Runs kubectl and fails with what it said when it fails. */
async function k(command: string, input = ''): Promise<string> {
  const { code, stdout, stderr } = await run(kubectl, command.split(' '), input)
  if (code !== 0) throw new Error(`kubectl ${command}: ${stderr}${stdout}`)
  return stdout + stderr
}

const web = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - {name: main, image: 'nginx:1.27', ports: [{containerPort: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  selector: {app: web}
  ports: [{port: 80}]
`

describe.skipIf(kubectl === undefined)('kubectl', () => {
  test('applies, waits, shows, changes and deletes', async () => {
    expect(await k('apply -f -', web)).toBe('deployment.apps/web created\nservice/web created\n')
    expect(await k('rollout status deployment/web --timeout=20s')).toContain('successfully rolled out')
    expect(await k('apply -f -', web)).toBe('deployment.apps/web unchanged\nservice/web unchanged\n')
    expect((await k('get deployment web')).split('\n')[1]).toMatch(/^web +2\/2 +2 +2 +\d+s/)
    expect(await k('get pods -l app=web -o wide')).toMatch(/Running.*10\..*node-\d/)
    expect(await k('get deployment web -o jsonpath={.spec.template.spec.containers[0].image}')).toBe('nginx:1.27')
    expect(await k('scale deployment web --replicas=3')).toContain('scaled')
    expect(await k('wait deployment/web --for=jsonpath={.status.readyReplicas}=3 --timeout=20s')).toContain('met')
    expect(await k('label deployment web tier=front')).toContain('labeled')
    expect(await k('annotate deployment web note=x')).toContain('annotated')
    expect(await k('patch deployment web -p {"spec":{"revisionHistoryLimit":3}}')).toContain('patched')
    expect(await k('describe deployment web')).toMatch(/ScalingReplicaSet/)
    expect(await k('logs deployment/web')).toContain('started from nginx:1.27')
    expect(await k('delete deployment web --timeout=20s')).toContain('deleted')
    expect(await k('wait pods -l app=web --for=delete --timeout=20s')).not.toContain('timed out')
  })

  test('applies on the server, shows conflicts and differences', async () => {
    const map = (value: string) => `{apiVersion: v1, kind: ConfigMap, metadata: {name: ssa}, data: {k: ${value}}}`
    expect(await k('apply --server-side -f -', map('a'))).toContain('serverside-applied')
    expect(await k('apply --server-side --field-manager=other --force-conflicts -f -', map('b'))).toContain('applied')
    const conflict = await run(kubectl, ['apply', '--server-side', '-f', '-'], map('c'))
    expect(conflict).toMatchObject({ code: 1, stderr: expect.stringContaining('conflict with "other"') })
    const difference = await run(kubectl, ['diff', '--server-side', '--field-manager=other', '-f', '-'], map('d'))
    expect(difference).toMatchObject({ code: 1, stdout: expect.stringMatching(/- {2}k: b\n\+ {2}k: d/) })
  })

  test('explains, lists what there is and says what one may', async () => {
    expect(await k('explain deployment.spec.strategy')).toContain('rollingUpdate')
    expect(await k('api-resources --api-group=apps')).toMatch(/deployments +deploy +apps\/v1 +true +Deployment/)
    expect(await k('auth can-i create pods')).toContain('yes')
    const bob = await run(kubectl, ['auth', 'can-i', 'create', 'pods', '--as=bob'])
    expect(bob).toMatchObject({ code: 1, stdout: 'no\n' })
    expect(await k('create token default')).toMatch(/^ey/)
  })

  test('follows changes of a custom resource with its own columns', async () => {
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'widgets.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'widgets', kind: 'Widget', shortNames: ['wd'] },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
            schema: {
              openAPIV3Schema: {
                type: 'object',
                properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
              },
            },
          },
        ],
      },
    }
    await k('apply -f -', JSON.stringify(definition))
    await k('wait crd/widgets.example.com --for=condition=Established --timeout=20s')
    const widget = (size: number) =>
      `{apiVersion: example.com/v1, kind: Widget, metadata: {name: w}, spec: {size: ${size}}}`
    await k('apply -f -', widget(1))
    const watcher = spawn(kubectl ?? '', ['get', 'wd', '-w'], { env: environment(), cwd: folder })
    try {
      let seen = ''
      watcher.stdout.on('data', (chunk: Buffer) => {
        seen += chunk.toString()
      })
      await expect.poll(() => seen, { timeout: 10_000 }).toMatch(/NAME +SIZE\nw +1\n/)
      await k('apply -f -', widget(2))
      await expect.poll(() => seen, { timeout: 10_000 }).toMatch(/w +2\n/)
    } finally {
      watcher.kill()
    }
    expect(await k('explain widget.spec')).toContain('size')
  })

  test('deletes a namespace with everything in it', async () => {
    await k('create namespace doomed')
    await k('create configmap a -n doomed --from-literal=k=v')
    await k('delete namespace doomed --timeout=20s')
    const { stderr } = await run(kubectl, ['get', 'namespace', 'doomed'])
    expect(stderr).toContain('namespaces "doomed" not found')
  })
})

describe.skipIf(helm === undefined)('helm', () => {
  test('installs, upgrades, rolls back and uninstalls a chart, waiting for pods', async () => {
    const chart = join(folder, 'demo')
    await mkdir(join(chart, 'templates'), { recursive: true })
    await writeFile(join(chart, 'Chart.yaml'), 'apiVersion: v2\nname: demo\nversion: 1.0.0\n')
    await writeFile(join(chart, 'values.yaml'), 'replicas: 1\n')
    const template = web
      .replaceAll('name: web', 'name: {{ .Release.Name }}')
      .replace('replicas: 2', 'replicas: {{ .Values.replicas }}')
    await writeFile(join(chart, 'templates', 'all.yaml'), template)
    const h = async (...args: string[]) => {
      const { code, stdout, stderr } = await run(helm, args)
      if (code !== 0) throw new Error(`helm ${args.join(' ')}: ${stderr}`)
      return stdout
    }
    expect(await h('install', 'rel', chart, '--wait', '--timeout=30s')).toContain('STATUS: deployed')
    expect(await h('upgrade', 'rel', chart, '--set=replicas=2', '--wait', '--timeout=30s')).toContain('REVISION: 2')
    expect(cluster.api.get('deployments.apps', 'default', 'rel')).toMatchObject({ status: { readyReplicas: 2 } })
    await h('rollback', 'rel', '1', '--wait', '--timeout=30s')
    expect((await h('history', 'rel')).trimEnd().split('\n')).toHaveLength(4)
    expect(await h('status', 'rel')).toContain('deployed')
    expect(await h('uninstall', 'rel', '--wait', '--timeout=30s')).toContain('uninstalled')
    expect(cluster.api.get('deployments.apps', 'default', 'rel')).toBeUndefined()
  })
})
