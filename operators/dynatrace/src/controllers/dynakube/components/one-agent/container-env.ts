/** Environment variables of the agent. */
import type { EnvVar } from '@reeve/kube'
import { hasLogMonitoring } from '../../../../api/dynakube/feature-facts.ts'
import { namesOf } from '../../../../api/dynakube/names.ts'
import { oneAgentEnv, supportsReadOnlyHost } from '../../../../api/dynakube/one-agent-facts.ts'
import type { DynaKube } from '../../../../api/latest.ts'
import { fromConfigMap, fromField, tenantOf } from '../../../rendering/container-env.ts'
import { containerEnvFrom } from '../../../rendering/user-settings.ts'
import { takesProxyArgument } from './arguments.ts'

/** The operator's variables, overridden by the user's. */
export function agentEnv(dynakube: DynaKube): readonly EnvVar[] {
  const { deploymentMetadata, oneAgentConnectionInfo } = namesOf(dynakube)
  return tenantOf(
    [
      fromConfigMap('DT_DEPLOYMENT_METADATA', deploymentMetadata, 'oneagent'),
      { name: 'DT_K8S_CLUSTER_ID', value: dynakube.status?.kubeSystemUUID ?? '' },
      fromField('DT_K8S_NODE_NAME', 'spec.nodeName'),
      fromConfigMap('DT_OPERATOR_VERSION', deploymentMetadata, 'operator'),
      fromConfigMap('DT_SERVER', oneAgentConnectionInfo, 'communication-endpoints'),
      fromConfigMap('DT_TENANT', oneAgentConnectionInfo, 'tenant-uuid'),
      ...(hasLogMonitoring(dynakube)
        ? [fromField('KUBELET_API_ADDRESS', 'status.hostIP'), fromField('KUBELET_API_NODENAME', 'spec.nodeName')]
        : []),
      ...(supportsReadOnlyHost(dynakube)
        ? [
            { name: 'ONEAGENT_DISABLE_CONTAINER_INJECTION', value: 'true' },
            { name: 'ONEAGENT_READ_ONLY_MODE', value: 'true' },
          ]
        : []),
      ...(takesProxyArgument(dynakube) ? [proxyVariable(dynakube)] : []),
    ],
    containerEnvFrom(oneAgentEnv(dynakube)),
  )
}

function proxyVariable({ spec }: DynaKube): EnvVar {
  const { value, valueFrom } = spec.proxy ?? {}
  if (!valueFrom) return { name: 'https_proxy', value: value ?? '' }
  return { name: 'https_proxy', valueFrom: { secretKeyRef: { name: valueFrom, key: 'proxy' } } }
}
