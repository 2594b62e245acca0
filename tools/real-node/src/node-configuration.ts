/** The configuration files of what runs on a node. */
import { stringify } from 'yaml'
import { NODE_IP, PAUSE_IMAGE, POD_RANGE } from './defaults.ts'

/** Configuration of containerd. */
export function containerdConfiguration({ cniPlugins, cniFolder, registries, runc }: ContainerdOptions): string {
  return `version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
disabled_plugins = ["io.containerd.internal.v1.opt", "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs", "io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.devmapper"]

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${PAUSE_IMAGE}"
  disable_apparmor = true
  # Lowering the score needs CAP_SYS_RESOURCE, which a virtual machine may withhold.
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
        BinaryName = "${runc}"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "${cniPlugins}"
    conf_dir = "${cniFolder}"
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = "${registries}"
`
}

export interface ContainerdOptions {
  readonly cniPlugins: string
  readonly cniFolder: string
  /** Folder with a `hosts.toml` per registry. */
  readonly registries: string
  /** The program that starts containers. */
  readonly runc: string
}

/** All pods on one bridge, with addresses of {@link POD_RANGE}. */
export function cniConfiguration(): string {
  return JSON.stringify({
    cniVersion: '0.4.0',
    name: 'reeve',
    plugins: [
      {
        type: 'bridge',
        bridge: 'cni0',
        isGateway: true,
        ipMasq: true,
        hairpinMode: true,
        ipam: { type: 'host-local', ranges: [[{ subnet: POD_RANGE }]], routes: [{ dst: '0.0.0.0/0' }] },
      },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  })
}

/** Configuration of the kubelet. */
export function kubeletConfiguration({ caFile, cgroup, resolvConf }: KubeletOptions): string {
  return stringify({
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    address: NODE_IP,
    authentication: { anonymous: { enabled: false }, webhook: { enabled: true }, x509: { clientCAFile: caFile } },
    authorization: { mode: 'Webhook' },
    cgroupDriver: 'cgroupfs',
    cgroupRoot: `/${cgroup}`,
    clusterDNS: [NODE_IP],
    clusterDomain: 'cluster.local',
    containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
    enforceNodeAllocatable: ['pods'],
    // The disk is that of the machine: how full it is does not matter, and imported images cannot be pulled again.
    evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '0%', 'imagefs.available': '0%' },
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
    failCgroupV1: false,
    failSwapOn: false,
    // By default up to five minutes: so long nothing would be scheduled after the API server was away for a minute.
    nodeStatusReportFrequency: '5s',
    nodeStatusUpdateFrequency: '5s',
    // Lowering it needs CAP_SYS_RESOURCE.
    oomScoreAdj: 0,
    resolvConf,
    // The default is in /usr, which is read-only.
    volumePluginDir: '/var/lib/kubelet/volume-plugins',
  })
}

export interface KubeletOptions {
  readonly caFile: string
  readonly cgroup: string
  readonly resolvConf: string
}

/** Configuration of kube-proxy. */
export function kubeProxyConfiguration(kubeconfig: string): string {
  return stringify({
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: 'iptables',
    clientConnection: { kubeconfig },
    clusterCIDR: POD_RANGE,
    // These limits are those of the machine.
    conntrack: { maxPerCore: 0, min: 0 },
    iptables: { minSyncPeriod: '100ms' },
  })
}

/** Configuration of the cluster's name server. */
export function dnsConfiguration(kubeconfig: string): string {
  return `.:53 {
  bind ${NODE_IP}
  errors
  kubernetes cluster.local in-addr.arpa {
    kubeconfig ${kubeconfig}
  }
}
`
}
