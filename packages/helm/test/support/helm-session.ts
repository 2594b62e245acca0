/** A cluster, a namespace, a chart and a driver of the real helm, for one suite. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BRIEF_CLIENT, findClientBinary, helmsToTry } from '@reeve/client-binaries'
import { type ClusterUnderTest, openCluster, type RawRequest, type RawResponse } from '@reeve/cluster-under-test'
import { findHelm, type Helm, type HelmOptions, openHelm, type RunProcess, runProcess } from '@reeve/helm'
import { type ClusterConfig, createClient, type DiscoveringClient, loadConfig } from '@reeve/kube'
import { webChart, writeChart } from './chart-files.ts'

/** The helm of the machine or the one that comes with the repository; suites skip without one. */
export const helmPath = await findClientBinary('helm')

/** That one and, on a real cluster, the one of the major version before. */
export const helms = await helmsToTry()

/** What a suite works with. */
export interface HelmSession {
  readonly cluster: ClusterUnderTest
  readonly client: DiscoveringClient
  readonly folder: string
  readonly namespace: string
  readonly helm: Helm
  /** See `webChart`. */
  readonly chart: { readonly path: string }
  /** Another driver, closed with the session; `config` replaces parts of the configuration. */
  open(options: HelmOptions, config?: Partial<ClusterConfig>): Promise<Helm>
  /** A request about `path` in the session's namespace, such as `secrets/web`. */
  api(path: string, request?: Omit<RawRequest, 'path'> & { readonly group?: string }): Promise<RawResponse>
  close(): Promise<void>
}

export async function startHelmSession(path = helmPath): Promise<HelmSession> {
  const cluster = await openCluster()
  const config = await loadConfig({ kubeconfig: cluster.kubeconfigPath })
  const client = createClient({ config })
  const folder = await mkdtemp(join(tmpdir(), 'reeve-helm-session-'))
  const binary = await findHelm({ env: { HELM_BIN: path } })
  const namespace = await cluster.createNamespace()
  const drivers: Helm[] = []
  const open: HelmSession['open'] = async (options, changes) => {
    const driver = await openHelm(binary, { ...config, ...changes }, { ...options, runProcess: briefly(options) })
    drivers.push(driver)
    return driver
  }
  return {
    cluster,
    client,
    folder,
    namespace,
    helm: await open({}),
    chart: { path: await writeChart(join(folder, 'web'), webChart()) },
    open,
    api: (path, { group = 'api/v1', ...request } = {}) =>
      cluster.raw.send({ ...request, path: `/${group}/namespaces/${namespace}/${path}` }),
    async close() {
      await Promise.all(drivers.map((driver) => driver.close()))
      await client.close()
      await cluster.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function briefly({ runProcess: run = runProcess }: HelmOptions): RunProcess {
  return (request) => run({ ...request, env: { ...request.env, ...BRIEF_CLIENT } })
}

/** Waits until `question` returns a value, and returns it. */
export async function eventually<T>(question: () => Promise<T | undefined>): Promise<T> {
  const deadline = Date.now() + 60_000
  for (;;) {
    const found = await question()
    if (found !== undefined) return found
    if (Date.now() > deadline) throw new Error('it did not happen within a minute')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
