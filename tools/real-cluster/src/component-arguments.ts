/** The command-line arguments of the control plane's components. */
import { KUBERNETES_SERVICE_IP, SERVICE_CLUSTER_IP_RANGE } from './defaults.ts'

/** Ports on loopback. */
export interface Ports {
  readonly etcdClient: number
  readonly etcdPeer: number
  readonly apiServer: number
}

/** Files in a cluster's folder. */
export const FILES = {
  ca: 'ca.crt',
  caKey: 'ca.key',
  etcdCert: 'etcd.crt',
  etcdKey: 'etcd.key',
  apiServerCert: 'apiserver.crt',
  apiServerKey: 'apiserver.key',
  kubeletClientCert: 'kubelet-client.crt',
  kubeletClientKey: 'kubelet-client.key',
  serviceAccountKey: 'service-account.key',
  serviceAccountPublicKey: 'service-account.pub',
  controllerManagerKubeconfig: 'controller-manager.kubeconfig',
  adminKubeconfig: 'admin.kubeconfig',
  etcdKubeconfig: 'etcd.kubeconfig',
} as const

/** Names and addresses in the API server's certificate. */
export const API_SERVER_NAMES: readonly string[] = [
  'localhost',
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
  '127.0.0.1',
  '::1',
  KUBERNETES_SERVICE_IP,
]

/** Everything is on loopback and temporary: etcd need not wait for the disk. */
export function etcdArguments(file: (name: string) => string, ports: Ports): string[] {
  const client = `https://127.0.0.1:${ports.etcdClient}`
  const peer = `https://127.0.0.1:${ports.etcdPeer}`
  return flags({
    name: 'default',
    'data-dir': file('etcd-data'),
    'unsafe-no-fsync': true,
    'log-level': 'warn',
    'listen-client-urls': client,
    'advertise-client-urls': client,
    'listen-peer-urls': peer,
    'initial-advertise-peer-urls': peer,
    'initial-cluster': `default=${peer}`,
    'cert-file': file(FILES.etcdCert),
    'key-file': file(FILES.etcdKey),
    'client-cert-auth': true,
    'trusted-ca-file': file(FILES.ca),
    'peer-cert-file': file(FILES.etcdCert),
    'peer-key-file': file(FILES.etcdKey),
    'peer-client-cert-auth': true,
    'peer-trusted-ca-file': file(FILES.ca),
  })
}

/** Admission plugins and feature gates stay at their defaults: tests should meet what people run. */
export function apiServerArguments(file: (name: string) => string, ports: Ports): string[] {
  return flags({
    'bind-address': '127.0.0.1',
    'advertise-address': '127.0.0.1',
    'secure-port': ports.apiServer,
    // The default reconciler refuses to publish a loopback address and logs that every ten seconds.
    'endpoint-reconciler-type': 'none',
    'etcd-servers': `https://127.0.0.1:${ports.etcdClient}`,
    'etcd-cafile': file(FILES.ca),
    'etcd-certfile': file(FILES.etcdCert),
    'etcd-keyfile': file(FILES.etcdKey),
    'cert-dir': file('generated-certificates'),
    'tls-cert-file': file(FILES.apiServerCert),
    'tls-private-key-file': file(FILES.apiServerKey),
    'client-ca-file': file(FILES.ca),
    'kubelet-client-certificate': file(FILES.kubeletClientCert),
    'kubelet-client-key': file(FILES.kubeletClientKey),
    // Simulated nodes listen on loopback, which is their external address.
    'kubelet-preferred-address-types': 'ExternalIP,InternalIP',
    'service-account-issuer': 'https://kubernetes.default.svc.cluster.local',
    'service-account-key-file': file(FILES.serviceAccountPublicKey),
    'service-account-signing-key-file': file(FILES.serviceAccountKey),
    'service-cluster-ip-range': SERVICE_CLUSTER_IP_RANGE,
    'authorization-mode': 'RBAC',
    'allow-privileged': true,
    profiling: false,
  })
}

/** All default controllers, with higher client rate limits: tests create and delete faster than people. */
export function controllerManagerArguments(file: (name: string) => string, controllers: readonly string[]): string[] {
  return flags({
    kubeconfig: file(FILES.controllerManagerKubeconfig),
    controllers: controllers.join(','),
    'use-service-account-credentials': true,
    'service-account-private-key-file': file(FILES.serviceAccountKey),
    'root-ca-file': file(FILES.ca),
    'cluster-signing-cert-file': file(FILES.ca),
    'cluster-signing-key-file': file(FILES.caKey),
    'leader-elect': false,
    // Its health and metrics endpoints are not used.
    'secure-port': 0,
    'cert-dir': file('generated-certificates'),
    // It creates this folder, which is in /usr by default.
    'flex-volume-plugin-dir': file('flex-volume-plugins'),
    'kube-api-qps': 500,
    'kube-api-burst': 1000,
    profiling: false,
  })
}

function flags(values: Readonly<Record<string, string | number | boolean>>): string[] {
  return Object.entries(values).map(([name, value]) => `--${name}=${value}`)
}
