/** Security posture management: a collector on each node, which shares a token with the gateway. */
import { type DaemonSet, DaemonSets, Secrets } from '@reeve/kube'
import { type DesiredObject, desired } from '@reeve/runtime'
import { hasKspm } from '../../../../api/dynakube/feature-facts.ts'
import { imagePullSecretNames, namesOf } from '../../../../api/dynakube/names.ts'
import { ANNOTATIONS } from '../../../rendering/annotations.ts'
import { coreLabels } from '../../../rendering/labels.ts'
import { linuxNodes } from '../../../rendering/placement.ts'
import { nodeAffinityFrom } from '../../../rendering/user-settings.ts'
import { type Component, known } from '../../component.ts'
import { created } from '../../object-conditions.ts'
import type { RenderInput } from '../../render-input.ts'
import { kspmTokenData, resolveKspm } from '../../resolve/generated.ts'
import { isOnEveryNode } from '../../workload-readiness.ts'
import { activeGateAddress } from '../active-gate/service.ts'
import { oneAgentTenantSecret } from '../connection/tenant-secrets.ts'
import { collectorPod } from './pod.ts'

/** KSPM. */
export const kspm: Component = {
  name: 'KSPM',
  after: [oneAgentTenantSecret, activeGateAddress],
  isEnabled: hasKspm,
  /** Waits with the agents, while there is nowhere to connect to. */
  resolve: (pass, { outcomeOf }) => outcomeOf(oneAgentTenantSecret)?.waiting ?? resolveKspm(pass),
  disable(draft) {
    if (draft.status.kspm !== undefined) draft.update({ kspm: undefined })
  },
  conditions: (dynakube) => [
    created('KSPMTokenSecret', 'Secret', namesOf(dynakube).kspmTokenSecret),
    created('NodeConfigCollectorDaemonSet', 'DaemonSet', namesOf(dynakube).nodeConfigCollector),
  ],
  isReady: (dynakube, cache) => isOnEveryNode(namesOf(dynakube).nodeConfigCollector, dynakube, cache),
  mayOwn(dynakube) {
    const names = namesOf(dynakube)
    return [
      { resource: Secrets, name: names.kspmTokenSecret },
      { resource: DaemonSets, name: names.nodeConfigCollector },
    ]
  },
  render(input) {
    if (!hasKspm(input.dynakube)) return []
    return [renderToken(input), renderDaemonSet(input)]
  },
}

function labelsOf({ dynakube, operator }: RenderInput) {
  return coreLabels({ owner: dynakube.metadata.name ?? '', component: 'kspm', operatorVersion: operator.version })
}

function renderToken(input: RenderInput): DesiredObject {
  const { dynakube, material } = input
  const token = known(material.kspmToken, 'KSPM', 'its token')
  return desired(Secrets, {
    metadata: {
      namespace: dynakube.metadata.namespace,
      name: namesOf(dynakube).kspmTokenSecret,
      labels: labelsOf(input).all,
    },
    data: kspmTokenData(token),
  })
}

function renderDaemonSet(input: RenderInput): DesiredObject<DaemonSet> {
  const { dynakube } = input
  const labels = labelsOf(input)
  const template = dynakube.spec.templates?.kspmNodeConfigurationCollector
  const nodeAffinity = template?.nodeAffinity
  return desired(
    DaemonSets,
    {
      metadata: {
        namespace: dynakube.metadata.namespace,
        name: namesOf(dynakube).nodeConfigCollector,
        labels: labels.all,
        ...(template?.annotations && { annotations: template.annotations }),
      },
      spec: {
        selector: { matchLabels: labels.match },
        updateStrategy: updateStrategyOf(input),
        template: {
          metadata: {
            labels: { ...template?.labels, ...labels.all },
            annotations: {
              [ANNOTATIONS.kspmTokenSecret]: dynakube.status.kspm?.tokenSecretHash ?? '',
              ...template?.annotations,
            },
          },
          spec: {
            ...collectorPod(input),
            imagePullSecrets: imagePullSecretNames(dynakube).map((name) => ({ name })),
            // What the user says about nodes replaces the default altogether.
            affinity: nodeAffinity ? { nodeAffinity: nodeAffinityFrom(nodeAffinity) } : linuxNodes('amd64'),
          },
        },
      },
    },
    { onImmutable: 'recreate' },
  )
}

type UpdateStrategy = NonNullable<NonNullable<DaemonSet['spec']>['updateStrategy']>

/** A new collector comes before the old one goes: no node is without. */
function updateStrategyOf({ dynakube }: RenderInput): UpdateStrategy {
  const given = dynakube.spec.templates?.kspmNodeConfigurationCollector?.updateStrategy
  // The schema is that of Kubernetes.
  if (given) return given as UpdateStrategy
  return { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } }
}
