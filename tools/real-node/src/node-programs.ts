/** Builds the programs of a node and of its test images from source. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  cacheFolder,
  ensureProgram,
  type GoProgram,
  type GoProgramOptions,
  inFolder,
  linkerFlags,
  pinnedKubernetesVersion,
} from '@reeve/real-cluster'

const moduleFolder = fileURLToPath(new URL('..', import.meta.url))
const dnsFolder = join(moduleFolder, 'cluster-dns')

/** Absolute paths of the programs. */
export interface NodePrograms {
  readonly kubelet: string
  readonly kubeProxy: string
  readonly kubeScheduler: string
  readonly clusterDns: string
  readonly pause: string
  /** Stands in for an ActiveGate. */
  readonly gateway: string
  /** Responds with the name of its pod. */
  readonly webServer: string
}

export interface NodeProgramsOptions extends GoProgramOptions {
  /** Called with each program before it is built or found. */
  readonly onStep?: (step: string) => void
}

/**
 * The programs, built first if necessary: about two minutes on two cores after the control plane has been built.
 *
 * *Errors*: `GoMissingError`, `BuildFailedError`.
 */
export async function ensureNodePrograms(options: NodeProgramsOptions = {}): Promise<NodePrograms> {
  const { env = process.env, onStep } = options
  const stamp = linkerFlags(await pinnedKubernetesVersion())
  const path = (name: string) => join(cacheFolder(env), `${name}-${process.platform}-${process.arch}`)
  const build = (name: string, program: Omit<GoProgram, 'path'>) => {
    onStep?.(`building ${name}, unless it is cached`)
    return ensureProgram({ path: path(name), ...program }, options)
  }
  const kubernetes = (name: string) =>
    build(name, {
      sources: inFolder(moduleFolder, ['go.mod', 'go.sum']),
      moduleFolder,
      package: `k8s.io/kubernetes/cmd/${name}`,
      linkerFlags: stamp,
    })
  const own = (name: string) =>
    build(name, {
      sources: inFolder(moduleFolder, [`cmd/${name}/main.go`]),
      moduleFolder,
      package: `./cmd/${name}`,
    })
  return {
    kubelet: await kubernetes('kubelet'),
    kubeProxy: await kubernetes('kube-proxy'),
    kubeScheduler: await kubernetes('kube-scheduler'),
    clusterDns: await build('cluster-dns', {
      sources: inFolder(dnsFolder, ['go.mod', 'go.sum', 'main.go']),
      moduleFolder: dnsFolder,
      package: '.',
    }),
    pause: await own('pause'),
    gateway: await own('gateway'),
    webServer: await own('web-server'),
  }
}
