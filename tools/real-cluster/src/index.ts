/**
 * A real Kubernetes control plane for tests: built from source once, started in seconds, removed completely when
 * stopped.
 *
 * @example
 * await using cluster = await startRealCluster()
 * await using nodes = await startSimulatedNodes(cluster)
 *
 * @module
 */

export { ApiClient, type ApiRequest } from './api-client.ts'
export {
  type Binaries,
  type BinariesOptions,
  type BinaryName,
  binariesFolder,
  cacheFolder,
  ensureBinaries,
  findBinaries,
  pinnedKubernetesVersion,
} from './binaries.ts'
export { showBuildProgress } from './build-progress-line.ts'
export type { ClientIdentity, KeyPair } from './certificates.ts'
export { ensureClientProbe, findClientProbe } from './client-probe.ts'
export * from './errors.ts'
export { type BuildProgress, goModuleFolder, hasGo, linkerFlags } from './go-build.ts'
export { ensureProgram, findProgram, type GoProgram, type GoProgramOptions, inFolder } from './go-program.ts'
export { type Connection, readKubeconfig, renderKubeconfig } from './kubeconfig.ts'
export type { ContainerName, LogSource } from './nodes/kubelet-server.ts'
export type { NodeSpec } from './nodes/node-object.ts'
export { ANNOTATIONS } from './nodes/pod-behaviour.ts'
export { type SimulatedNodes, type SimulatedNodesOptions, startSimulatedNodes } from './nodes/simulated-nodes.ts'
export { ensureOtelCollector, findOtelCollector } from './otel-collector.ts'
export { type RealCluster, type RealClusterOptions, startRealCluster } from './real-cluster.ts'
