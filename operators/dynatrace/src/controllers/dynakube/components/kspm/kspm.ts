/** Security posture management: a collector on each node, which shares a token with the gateway. */
import { type DaemonSet, DaemonSets, Secrets } from '@reeve/kube'
import { type DesiredObject, desired } from '@reeve/runtime'
import { hasKspm } from '../../../../api/dynakube/feature-facts.ts'
import { imagePullSecretNames, namesOf } from '../../../../api/dynakube/names.ts'
import { makeToken } from '../../../generated/token.ts'
import { ANNOTATIONS } from '../../../rendering/annotations.ts'
import { hashOf } from '../../../rendering/hashes.ts'
import { coreLabels } from '../../../rendering/labels.ts'
import { linuxNodes } from '../../../rendering/placement.ts'
import { encodeSecret } from '../../../rendering/secret-data.ts'
import { nodeAffinityFrom } from '../../../rendering/user-settings.ts'
import { created, objectConditions } from '../../conditions/object-conditions.ts'
import { type DynaKubeComponent, type RenderInput, renderInputOf, viewOf } from '../../dynakube-component.ts'
import { isOnEveryNode } from '../../workload-readiness.ts'
import { oneAgentConnection } from '../connection/one-agent-connection.ts'
import { tenant } from '../tenant/tenant.ts'
import { collectorPod } from './pod.ts'

const TOKEN_KEY = 'kspm-token'

/** The token that gateways and collectors of node configurations share. */
export interface KspmToken {
  readonly kspmToken: string
}

/** KSPM. */
export const kspm: DynaKubeComponent<KspmToken> = {
  name: 'KSPM',
  needs: [tenant],
  after: [oneAgentConnection],
  isEnabled: hasKspm,
  isReady: ({ primary, cache }) => isOnEveryNode(namesOf(primary).nodeConfigCollector, primary, cache),
  mayOwn(dynakube) {
    const names = namesOf(dynakube)
    return [
      { resource: Secrets, name: names.kspmTokenSecret },
      { resource: DaemonSets, name: names.nodeConfigCollector },
    ]
  },
  /** The token is made once. Waits together with the agents while the tenant has no endpoints. */
  resolve(context) {
    const { primary, reporter, dependencies, outcomeOf } = context
    const { waiting } = outcomeOf(oneAgentConnection) ?? {}
    if (waiting !== undefined) return waiting
    const stored = viewOf(context).secret(namesOf(primary).kspmTokenSecret)?.[TOKEN_KEY]
    const kspmToken = stored ?? makeToken('dt0n01', dependencies.randomBytes)
    reporter.update({ kspm: { tokenSecretHash: hashOf(encodeSecret({ [TOKEN_KEY]: kspmToken })) } })
    return { kspmToken }
  },
  render(engineInput) {
    const input = renderInputOf(engineInput)
    return [renderToken(input, engineInput.facts), renderDaemonSet(input)]
  },
  ...objectConditions(
    [
      created('KSPMTokenSecret', 'Secret', (dynakube) => namesOf(dynakube).kspmTokenSecret),
      created('NodeConfigCollectorDaemonSet', 'DaemonSet', (dynakube) => namesOf(dynakube).nodeConfigCollector),
    ],
    (reporter) => {
      if (reporter.status?.kspm !== undefined) reporter.update({ kspm: undefined })
    },
  ),
}

function labelsOf({ dynakube, operator }: RenderInput) {
  return coreLabels({ owner: dynakube.metadata.name ?? '', component: 'kspm', operatorVersion: operator.version })
}

function renderToken(input: RenderInput, { kspmToken }: KspmToken): DesiredObject {
  const { dynakube } = input
  return desired(Secrets, {
    metadata: {
      namespace: dynakube.metadata.namespace,
      name: namesOf(dynakube).kspmTokenSecret,
      labels: labelsOf(input).all,
    },
    data: encodeSecret({ [TOKEN_KEY]: kspmToken }),
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
