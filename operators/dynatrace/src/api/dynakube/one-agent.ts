/** Fields of the OneAgent: its modes, and what can be set in each. */
import { listSet } from '@reeve/crd'
import { type TProperties, Type } from 'typebox'
import { containerEnv } from '../core/environment-variables.ts'
import { labelSelector } from '../core/label-selector.ts'
import { resources } from '../core/resources.ts'
import { nodeSelector, tolerations } from '../core/scheduling.ts'
import { daemonSetRollingUpdate } from '../core/update-strategy.ts'
import { flag, group, nullableGroup, text, textMap } from '../fields/fields.ts'
import { pullPolicy } from '../fields/image-reference.ts'

const VERSION = 'such as 1.267.209.20231204-134602; the latest of the tenant when left out.'

const hostAgent = {
  version: text(`Pins the version of the agent, ${VERSION}`),
  image: text("The agent's image; taken from the registry of the tenant when left out."),
  nodeSelector: nodeSelector('the agent'),
  tolerations: tolerations('the agents'),
  priorityClassName: text('The PriorityClass of the pods. Give agents a high one, so that they start first.'),
  oneAgentResources: resources('CPU and memory of the agent.'),
  args: Type.Optional(
    listSet(Type.String(), {
      description: 'More arguments for the installer, such as --set-host-property=team=shop. No duplicates.',
    }),
  ),
  env: containerEnv('the agent'),
  labels: textMap('More labels on the pods.'),
  annotations: textMap('More annotations on the pods.'),
  dnsPolicy: text('The DNS policy of the pods, such as ClusterFirstWithHostNet.'),
  secCompProfile: text('A seccomp profile on the node, by name; unconfined when left out.'),
}

const storageHostPath = {
  storageHostPath: text(
    'A writable directory of the node where the agent keeps its data when there is no CSI driver; ' +
      '/var/opt/dynatrace when left out. Not used by classicFullStack.',
  ),
}

const autoUpdate = {
  autoUpdate: flag('Kept for compatibility, without effect: the agent is updated while version and image are unset.'),
}

const codeModules = {
  codeModulesImage: text('The image that code modules are taken from; downloaded from the tenant when left out.'),
  namespaceSelector: labelSelector('Namespaces whose pods are injected; all but system namespaces when left out.'),
  initResources: resources('CPU and memory of the init container that is put into each injected pod.'),
}

const updates = {
  imagePullPolicy: pullPolicy("the agent's image"),
  rollingUpdate: daemonSetRollingUpdate(
    'The pace at which agents are replaced; the flag oneagent-max-unavailable, or one node at a time, when left out.',
  ),
}

const codeModulesUpdates = {
  codeModulesImagePullPolicy: pullPolicy('codeModulesImage', 'the default of Kubernetes'),
}

const modes = <T extends TProperties, U extends TProperties>(host: T, app: U) => ({
  hostGroup: text('The host group of all agents; wins over --set-host-group in args.'),
  classicFullStack: nullableGroup(
    host,
    'Monitors the host and all its processes by one agent per node with full access to the node.',
  ),
  cloudNativeFullStack: nullableGroup(
    { ...host, ...codeModules, ...app },
    'Monitors hosts by one agent per node and applications by code modules put into their pods. The best choice for most clusters.',
  ),
  hostMonitoring: nullableGroup(host, 'Monitors hosts by one agent per node, and no applications.'),
  applicationMonitoring: nullableGroup(
    { version: text(`Pins the version of the code modules, ${VERSION}`), ...codeModules, ...app },
    'Monitors applications by code modules put into their pods, and no hosts.',
  ),
})

const DESCRIPTION = 'How hosts and applications are monitored. Choose at most one mode; {} switches a mode on.'

/** As in v1beta6. */
export const oneAgent = group(modes({ ...hostAgent, ...updates, ...storageHostPath }, codeModulesUpdates), DESCRIPTION)

/** As in v1beta4 and v1beta5. */
export const oneAgentWithAutoUpdate = group(modes({ ...hostAgent, ...storageHostPath, ...autoUpdate }, {}), DESCRIPTION)

/** As in v1beta3. */
export const oneAgentWithoutStorage = group(modes({ ...hostAgent, ...autoUpdate }, {}), DESCRIPTION)
