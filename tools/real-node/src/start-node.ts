/** Starts a control plane and a node inside a sandbox. */
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ApiClient, type RealCluster, renderKubeconfig, startRealCluster } from '@reeve/real-cluster'
import type { ContainerRuntime } from './container-runtime.ts'
import { NODE_IP, NODE_NAME, NODE_READY_TIMEOUT_MS } from './defaults.ts'
import { eventually } from './eventually.ts'
import {
  cniConfiguration,
  containerdConfiguration,
  dnsConfiguration,
  kubeletConfiguration,
  kubeProxyConfiguration,
} from './node-configuration.ts'
import { NodeProcess } from './node-process.ts'
import type { NodePrograms } from './node-programs.ts'
import { runProgram } from './run-program.ts'
import { lacksSysResource, RUNC_WITHOUT_SYS_RESOURCE } from './runc-wrapper.ts'

export interface StartNodeOptions {
  readonly programs: NodePrograms
  readonly runtime: ContainerRuntime
  /** Folder for configuration files, inside the sandbox. */
  readonly folder: string
  /** Folder for logs. */
  readonly logFolder: string
  /** The sandbox's cgroup. */
  readonly cgroup: string
  /** Archives of images that pods may use, in the form of OCI. */
  readonly images: readonly string[]
  readonly onStep?: (step: string) => void
}

/** A running node and its control plane. */
export interface RealNode extends AsyncDisposable {
  readonly cluster: RealCluster
  readonly processes: Readonly<Record<ComponentName, NodeProcess>>
  /** Folder in which containerd looks up how to reach registries. */
  readonly registries: string
}

/** What runs on the node beside pods. */
export type ComponentName = 'containerd' | 'kubelet' | 'kube-proxy' | 'kube-scheduler' | 'cluster-dns'

/**
 * Starts everything.
 *
 * *Assumptions*: the process is in a sandbox, see `runInSandbox`, which also removes what remains.
 *
 * *Guarantees*: when it resolves, the node is ready and has the images.
 */
export async function startNode(options: StartNodeOptions): Promise<RealNode> {
  const { programs, runtime, folder, logFolder, cgroup, images, onStep } = options
  await mkdir(logFolder, { recursive: true })
  const env = { ...process.env, ...runtime.env }
  const component = (name: ComponentName, command: string, ...args: readonly string[]) =>
    new NodeProcess(name, { command, args, env, logFolder })
  const file = async (name: string, content: string) => {
    const path = join(folder, name)
    await mkdir(join(path, '..'), { recursive: true })
    await writeFile(path, content, { mode: 0o600 })
    return path
  }

  onStep?.('starting containerd and importing images')
  await file('cni/10-bridge.conflist', cniConfiguration())
  const registries = join(folder, 'registries')
  await mkdir(registries, { recursive: true })
  const containerdConfig = containerdConfiguration({
    cniPlugins: runtime.cniPlugins,
    cniFolder: join(folder, 'cni'),
    registries,
    runc: await runcProgram(file),
  })
  const containerd = component(
    'containerd',
    'containerd',
    '--config',
    await file('containerd.toml', containerdConfig),
    '--log-level',
    'info',
  )
  containerd.start()
  await eventually('containerd responds', () => runProgram('ctr', ['version'], { env }))
  for (const image of images) await runProgram('ctr', ['--namespace', 'k8s.io', 'images', 'import', image], { env })

  onStep?.('starting the control plane')
  const cluster = await startRealCluster({
    logFolder,
    apiServerArguments: [
      '--bind-address=0.0.0.0',
      `--advertise-address=${NODE_IP}`,
      '--endpoint-reconciler-type=lease',
      // Modes add up, and RBAC is there already.
      '--authorization-mode=Node',
    ],
  })
  const kubeconfig = async (name: string, user: string, groups: readonly string[] = []) => {
    const pair = await cluster.issueClientCertificate({ user, groups })
    return file(name, renderKubeconfig({ server: cluster.server, ca: cluster.ca, ...pair }))
  }

  onStep?.('starting the node')
  const admin = ['system:masters']
  const kubeletConfig = kubeletConfiguration({
    caFile: await file('ca.crt', cluster.ca),
    cgroup,
    resolvConf: await file('resolv.conf', `nameserver ${NODE_IP}\n`),
  })
  const processes = {
    containerd,
    kubelet: component(
      'kubelet',
      programs.kubelet,
      `--config=${await file('kubelet.yaml', kubeletConfig)}`,
      `--kubeconfig=${await kubeconfig('kubelet.kubeconfig', `system:node:${NODE_NAME}`, ['system:nodes'])}`,
      `--hostname-override=${NODE_NAME}`,
      `--node-ip=${NODE_IP}`,
      '--v=2',
    ),
    'kube-proxy': component(
      'kube-proxy',
      programs.kubeProxy,
      `--config=${await file('kube-proxy.yaml', kubeProxyConfiguration(await kubeconfig('kube-proxy.kubeconfig', 'system:kube-proxy')))}`,
      `--hostname-override=${NODE_NAME}`,
    ),
    'kube-scheduler': component(
      'kube-scheduler',
      programs.kubeScheduler,
      `--kubeconfig=${await kubeconfig('scheduler.kubeconfig', 'system:kube-scheduler')}`,
      '--leader-elect=false',
      '--secure-port=0',
    ),
    'cluster-dns': component(
      'cluster-dns',
      programs.clusterDns,
      '-conf',
      await file('Corefile', dnsConfiguration(await kubeconfig('cluster-dns.kubeconfig', 'cluster-dns', admin))),
    ),
  }
  for (const [name, process] of Object.entries(processes)) if (name !== 'containerd') process.start()
  await nodeReady(cluster, Object.values(processes))
  for (const process of Object.values(processes)) process.isRestarted = true
  return {
    cluster,
    processes,
    registries,
    async [Symbol.asyncDispose]() {
      for (const process of Object.values(processes).reverse()) await process.stop('SIGKILL')
      await cluster.stop()
    },
  }
}

/** runc, or a program that works around what this machine lacks. */
async function runcProgram(file: (name: string, content: string) => Promise<string>): Promise<string> {
  if (!lacksSysResource(await readFile('/proc/self/status', 'utf8'))) return 'runc'
  const path = await file('runc-without-sys-resource', RUNC_WITHOUT_SYS_RESOURCE)
  await chmod(path, 0o755)
  return path
}

async function nodeReady(cluster: RealCluster, processes: readonly NodeProcess[]): Promise<void> {
  const client = new ApiClient(cluster)
  try {
    await eventually(
      'the node is ready',
      async () => {
        for (const process of processes) await process.assertRunning()
        const node = await client.json<NodeObject>({ method: 'GET', path: `/api/v1/nodes/${NODE_NAME}` })
        return node.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True')
      },
      { timeoutMs: NODE_READY_TIMEOUT_MS },
    )
  } finally {
    await client.close()
  }
}

interface NodeObject {
  readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
}
