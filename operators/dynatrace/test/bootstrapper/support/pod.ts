/** A pod with two containers: what the webhook passes to its init container, and what the files must contain. */

/** The containers, as the webhook describes them. */
const CONTAINERS = [
  {
    'container_image.registry': 'registry.example.com',
    'container_image.repository': 'team/shop',
    'container_image.tags': '1.2',
    'k8s.container.name': 'app',
  },
  { 'container_image.repository': 'envoy', 'container_image.digest': 'sha256:abc', 'k8s.container.name': 'side' },
] as const

/** The arguments of every init container. */
const DIRECTORIES = ['--config-directory=/mnt/config', '--input-directory=/mnt/input']

/** The arguments about the agent, unknown ones for `bootstrap` included. */
export const AGENT_ARGS = [
  '--source=/mnt/image',
  '--target=/mnt/bin',
  '--install-path=/opt/dynatrace/oneagent-paas',
  '--fullstack',
  '--tenant=abc12345',
]

/** The arguments about metadata. */
export const METADATA_ARGS = [
  '--attribute=k8s.workload.kind=deployment',
  '--attribute=k8s.workload.name=shop',
  '--attribute=team=orders',
  '--attribute=ignored=a=b',
  '--metadata-enrichment',
]

const POD_ARGS = [
  ...CONTAINERS.map((container) => `--attribute-container=${JSON.stringify(container)}`),
  '--attribute=k8s.pod.name=shop-0',
  '--attribute=k8s.pod.uid=1-2-3',
  '--attribute=k8s.node.name=worker-1',
  '--attribute=k8s.namespace.name=orders',
  '--attribute=k8s.cluster.uid=c-1',
  '--attribute=k8s.cluster.name=prod',
  '--attribute=dt.entity.kubernetes_cluster=KUBERNETES_CLUSTER-1',
]

/** The arguments of an init container, in the order of the webhook. */
export function podArgs(...more: readonly (readonly string[])[]): readonly string[] {
  return [...DIRECTORIES, ...more.flat(), ...POD_ARGS]
}

/** The files of the replicated Secrets, without those for downloads. */
export const INPUT = {
  'ruxitagentproc.json': JSON.stringify({
    properties: [
      { section: 'general', key: 'tenant', value: 'abc12345' },
      { section: 'agentType', key: 'php', value: 'off' },
    ],
    revision: 7,
  }),
  'initial-connect-retry': '6000',
  'endpoint.properties': 'DT_METRICS_INGEST_URL=https://tenant.example\nDT_METRICS_INGEST_API_TOKEN=x\n',
  'trusted.pem': 'TRUSTED',
  'activegate.pem': 'GATEWAY',
} as const

/** The settings that the agent of {@link AGENT} ships, merged with {@link INPUT}. */
const PROCESS_CONFIG = `[agentType]
java on
php off

[general]
storage "/var/lib/dynatrace/oneagent"
tenant abc12345

[process]
libraryPath64 "/opt/dynatrace/oneagent-paas/agent/lib64/liboneagentproc.so"

`

/** A small agent, by path. */
export const AGENT = {
  'agent/installer.version': '1.2.3.20260101-101010',
  'agent/conf/ruxitagentproc.conf': `# shipped
[general]
logDir ../../log
dataStorageDir ../..

[agentType]
java on
php on

[process]
libraryPath64 "../lib64/liboneagentproc.so"
`,
  'agent/lib64/liboneagentproc.so': 'library',
  'agent/bin/1.2.3.20260101-101010/linux-x86-64/liboneagentjava.so': 'java',
  'agent/bin/1.2.3.20260101-101010/linux-x86-64/liboneagentphp.so': 'php',
} as const

const metadata = (container: string): Readonly<Record<string, string>> => ({
  'dt.entity.kubernetes_cluster': 'KUBERNETES_CLUSTER-1',
  'dt.kubernetes.cluster.id': 'c-1',
  'dt.kubernetes.workload.kind': 'deployment',
  'dt.kubernetes.workload.name': 'shop',
  'k8s.cluster.name': 'prod',
  'k8s.cluster.uid': 'c-1',
  'k8s.container.name': container,
  'k8s.namespace.name': 'orders',
  'k8s.node.name': 'worker-1',
  'k8s.pod.name': 'shop-0',
  'k8s.pod.uid': '1-2-3',
  'k8s.workload.kind': 'deployment',
  'k8s.workload.name': 'shop',
  team: 'orders',
})

/** Options of {@link agentConfig}. */
export interface ExpectedConfig {
  /** @default that of {@link AGENT} and {@link INPUT} */
  readonly processConfig?: string
  /** @default that of {@link INPUT} */
  readonly trusted?: string
}

/** The files of the agent's configuration, as `listing` of `@reeve/archives/testing` shows them. */
export function agentConfig({
  processConfig = PROCESS_CONFIG,
  trusted = INPUT['trusted.pem'],
}: ExpectedConfig = {}): Readonly<Record<string, string>> {
  const image = { app: 'registry.example.com/team/shop:1.2', side: 'envoy@sha256:abc' }
  const ofContainer = (name: 'app' | 'side') => ({
    [name]: '777 /',
    [`${name}/oneagent`]: '777 /',
    [`${name}/oneagent/agent`]: '777 /',
    [`${name}/oneagent/agent/config`]: '777 /',
    [`${name}/oneagent/agent/config/container.conf`]: `777 [container]
k8s_fullpodname shop-0
k8s_poduid 1-2-3
k8s_namespace orders
k8s_cluster_id c-1
k8s_containername ${name}
containerName ${name}
imageName ${image[name]}
k8s_node_name worker-1

[host]
tenant abc12345
isCloudNativeFullStack true

`,
    [`${name}/oneagent/agent/config/ruxitagentproc.conf`]: `644 ${processConfig}`,
    [`${name}/oneagent/agent/customkeys`]: '777 /',
    [`${name}/oneagent/agent/customkeys/curl_options.conf`]: '777 initialConnectRetryMs 6000\\n',
    [`${name}/oneagent/agent/customkeys/custom.pem`]: `777 ${INPUT['activegate.pem']}\n${trusted}`,
    [`${name}/oneagent/agent/customkeys/custom_proxy.pem`]: `777 ${trusted}`,
  })
  return {
    ...ofContainer('app'),
    ...ofContainer('side'),
    oneagent: '777 /',
    'oneagent/ld.so.preload': '644 /opt/dynatrace/oneagent-paas/agent/lib64/liboneagentproc.so',
  }
}

/** The files of metadata enrichment. */
export function enrichment(): Readonly<Record<string, string>> {
  const ofContainer = (name: string) => ({
    [name]: '777 /',
    [`${name}/enrichment`]: '777 /',
    [`${name}/enrichment/dt_metadata.json`]: `777 ${JSON.stringify(metadata(name))}`,
    [`${name}/enrichment/dt_metadata.properties`]: `777 ${Object.entries(metadata(name))
      .map(([key, value]) => `${key}=${value}\n`)
      .join('')}`,
    [`${name}/enrichment/endpoint`]: '777 /',
    [`${name}/enrichment/endpoint/endpoint.properties`]: `777 ${INPUT['endpoint.properties']}`,
  })
  return { ...ofContainer('app'), ...ofContainer('side') }
}
