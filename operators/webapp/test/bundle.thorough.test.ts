/** The files of the image: what is loaded only when it is needed is in them, in a form that can be loaded. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startEmbeddedCluster } from '@reeve/embedded-cluster'
import { connect, Secrets } from '@reeve/kube'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'

const PACKAGE = fileURLToPath(new URL('..', import.meta.url))

let folder: string
beforeAll(async () => {
  // Far from node_modules, as in the image.
  folder = await mkdtemp(join(tmpdir(), 'reeve-bundle-'))
  await promisify(execFile)('npm', ['run', 'bundle'], { cwd: PACKAGE, env: { ...process.env, OUTDIR: folder } })
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe.concurrent('the bundle', () => {
  it('runs with a kubeconfig until it is stopped', async () => {
    await using cluster = await startEmbeddedCluster()
    const kubeconfig = join(folder, 'running.kubeconfig')
    await cluster.writeKubeconfig(kubeconfig)
    const args = [join(folder, 'webapp-operator.js'), 'run', `--kubeconfig=${kubeconfig}`, '--health-port=0']
    const child = spawn(process.execPath, args)
    let log = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        log += String(chunk)
        // Its resource is not installed, which it finds out by asking.
        if (!child.killed && log.includes('"informer":"webapps.example.com"')) child.kill()
      })
    }
    const [code] = await once(child, 'exit')
    expect(log).toContain('received a signal, stopping')
    expect(code).toBe(0)
  })

  it('issues the certificate of its webhooks', async ({ expect }) => {
    await using cluster = await startEmbeddedCluster()
    const kubeconfig = join(folder, 'issuing.kubeconfig')
    await cluster.writeKubeconfig(kubeconfig)
    const client = await connect({ kubeconfig })
    const port = '--webhook-port=0'
    const args = [
      'run',
      `--kubeconfig=${kubeconfig}`,
      '--health-port=0',
      '--webhook',
      port,
      '--lease-namespace=default',
    ]
    const child = spawn(process.execPath, [join(folder, 'webapp-operator.js'), ...args], { stdio: 'ignore' })
    const ended = once(child, 'exit')
    try {
      const secret = { namespace: 'default', name: 'webapp-operator-certificate' }
      await expect.poll(() => client.get(Secrets, secret), { timeout: 15_000 }).toHaveProperty('data')
    } finally {
      child.kill()
      await ended
      await client.close()
    }
  })

  it.each([
    ['crd', 'CustomResourceDefinition'],
    ['rbac', 'ClusterRole'],
  ])('prints %s as YAML with a %s', async (command, kind) => {
    const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'webapp-operator.js'), command])
    expect(parseAllDocuments(stdout).map((document) => document.toJS().kind)).toContain(kind)
  })

  it('does not load the copy of undici inside Node, which an import of node:http would', async () => {
    const [loaded, preload] = [join(folder, 'loaded.txt'), join(folder, 'preload.cjs')]
    const write = `require('node:fs').writeFileSync(${JSON.stringify(loaded)}, process.moduleLoadList.join('\\n'))`
    await writeFile(preload, `process.on('exit', () => ${write})`)
    await promisify(execFile)(process.execPath, ['--require', preload, join(folder, 'webapp-operator.js'), 'crd'])
    const modules = (await readFile(loaded, 'utf8')).split('\n')
    expect(modules).toContain('NativeModule http')
    expect(modules.filter((name) => name.includes('undici'))).toEqual([])
  })
})
