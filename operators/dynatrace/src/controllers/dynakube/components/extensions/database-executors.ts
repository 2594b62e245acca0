/** The executors that query databases for extensions: one Deployment per database. */
import { ownValue } from '@reeve/http'
import { type Container, type Deployment, Deployments, type PodSpec } from '@reeve/kube'
import { type DesiredObject, desired } from '@reeve/runtime'
import { hasDatabases } from '../../../../api/dynakube/feature-facts.ts'
import {
  databaseExecutorName,
  EXTENSION_CONTROLLER_PORT,
  extensionControllerHost,
  extensionControllerTlsSecretName,
  FIXED_NAMES,
  imagePullSecretNames,
  namesOf,
} from '../../../../api/dynakube/names.ts'
import type { DynaKube, DynaKubeSpec } from '../../../../api/latest.ts'
import { fromField } from '../../../rendering/container-env.ts'
import { imageOf, pullPolicyOf } from '../../../rendering/image.ts'
import { appLabels } from '../../../rendering/labels.ts'
import { type Mounted, mountsOf, volumesOf } from '../../../rendering/mounted-volume.ts'
import { NO_CAPABILITIES, unprivileged } from '../../../rendering/security-context.ts'
import { affinityFrom, mountsFrom, placementOf, resourcesFrom, volumesFrom } from '../../../rendering/user-settings.ts'
import { objectConditions } from '../../conditions/object-conditions.ts'
import { type DynaKubeComponent, viewOf } from '../../dynakube-component.ts'
import { isExecutorReady } from '../../workload-readiness.ts'
import { tenant } from '../tenant/tenant.ts'
import { extensions } from './extensions.ts'
import { EXTENSION_TOKEN_KEYS } from './names.ts'

const APP = 'dynatrace-sql-extension-executor'
const USER = 1000
const HEALTH_PORT = 8080
const DEFAULT_RESOURCES = {
  requests: { cpu: '250m', memory: '256Mi' },
  limits: { cpu: '500m', memory: '512Mi' },
}

type Database = NonNullable<NonNullable<DynaKubeSpec['extensions']>['databases']>[number]

const databasesOf = ({ spec }: DynaKube): readonly Database[] => spec.extensions?.databases ?? []

/** What runs now. */
export interface ExecutorFacts {
  /** The replicas of the Deployment of a database, by its id. */
  readonly databaseReplicas: Readonly<Record<string, number>>
}

/** Executors of SQL extensions. */
export const databaseExecutors: DynaKubeComponent<ExecutorFacts> = {
  name: 'database executors',
  needs: [tenant, extensions],
  isEnabled: hasDatabases,
  isReady: ({ primary, cache }) =>
    databasesOf(primary).every(({ id }) => isExecutorReady(databaseExecutorName(primary, id), primary, cache)),
  mayOwn: (dynakube) =>
    databasesOf(dynakube).map(({ id }) => ({ resource: Deployments, name: databaseExecutorName(dynakube, id) })),
  /** Replicas that an autoscaler has set stay. */
  resolve(context) {
    const { primary } = context
    const view = viewOf(context)
    const live = databasesOf(primary).flatMap(({ id }) => {
      const replicas = view.replicas(databaseExecutorName(primary, id))
      return replicas === undefined ? [] : [[id, replicas] as const]
    })
    return { databaseReplicas: Object.fromEntries(live) }
  },
  render: ({ primary, facts }) => databasesOf(primary).map((database) => renderDeployment(primary, database, facts)),
  ...objectConditions([
    { type: 'DatabaseDatasourcesAvailable', reason: 'DeploymentsApplied', verb: 'applied', hasGeneration: true },
  ]),
}

function labelsOf(dynakube: DynaKube, { id }: Database) {
  const labels = appLabels({
    name: APP,
    owner: dynakube.metadata.name ?? '',
    component: APP,
    version: dynakube.spec.templates?.sqlExtensionExecutor?.imageRef?.tag ?? '',
  })
  const datasource = { 'extensions.dynatrace.com/executor.id': id, 'extensions.dynatrace.com/datasource': 'sql' }
  return { match: labels.match, all: { ...labels.all, ...datasource } }
}

function renderDeployment(dynakube: DynaKube, database: Database, facts: ExecutorFacts): DesiredObject<Deployment> {
  const labels = labelsOf(dynakube, database)
  const { annotations = {} } = database
  return desired(
    Deployments,
    {
      metadata: {
        namespace: dynakube.metadata.namespace,
        name: databaseExecutorName(dynakube, database.id),
        labels: labels.all,
      },
      spec: {
        replicas: database.replicas ?? ownValue(facts.databaseReplicas, database.id) ?? 1,
        selector: { matchLabels: labels.match },
        template: {
          metadata: {
            labels: { ...database.labels, ...labels.all },
            ...(Object.keys(annotations).length > 0 && { annotations }),
          },
          spec: podSpec(dynakube, database),
        },
      },
    },
    { onImmutable: 'recreate' },
  )
}

function podSpec(dynakube: DynaKube, database: Database): PodSpec {
  const account = database.serviceAccountName || FIXED_NAMES.sqlExecutorServiceAccount
  const { nodeSelector, topologySpreadConstraints } = placementOf(database)
  const { tolerations } = placementOf(dynakube.spec.templates?.sqlExtensionExecutor)
  return {
    serviceAccountName: account,
    serviceAccount: account,
    securityContext: { fsGroup: USER, seccompProfile: { type: 'RuntimeDefault' } },
    imagePullSecrets: imagePullSecretNames(dynakube).map((name) => ({ name })),
    ...(database.affinity && { affinity: affinityFrom(database.affinity) }),
    ...(nodeSelector && { nodeSelector }),
    ...(topologySpreadConstraints && { topologySpreadConstraints }),
    ...(tolerations && { tolerations }),
    containers: [container(dynakube, database)],
    volumes: [...volumesOf(volumes(dynakube)), ...volumesFrom(database.volumes)],
  }
}

function container(dynakube: DynaKube, database: Database): Container {
  const image = dynakube.spec.templates?.sqlExtensionExecutor?.imageRef
  const health = { timeoutSeconds: 2, failureThreshold: 3, successThreshold: 1 }
  return {
    name: 'sql-executor',
    image: imageOf(image),
    imagePullPolicy: pullPolicyOf(image?.pullPolicy, image?.tag === 'latest' ? 'Always' : 'IfNotPresent'),
    args: [
      '--podid=$(POD_UID)',
      `--url=https://${extensionControllerHost(dynakube)}:${EXTENSION_CONTROLLER_PORT.port}`,
      '--idtoken=/var/run/dynatrace/executor/token/auth-token',
    ],
    env: [fromField('POD_UID', 'metadata.uid')],
    resources: resourcesFrom(database.resources) ?? DEFAULT_RESOURCES,
    livenessProbe: {
      httpGet: { path: '/health/live', port: HEALTH_PORT },
      initialDelaySeconds: 15,
      periodSeconds: 10,
      ...health,
    },
    readinessProbe: {
      httpGet: { path: '/health/ready', port: HEALTH_PORT },
      initialDelaySeconds: 10,
      periodSeconds: 5,
      ...health,
    },
    securityContext: unprivileged(USER, NO_CAPABILITIES),
    volumeMounts: [...mountsOf(volumes(dynakube)), ...mountsFrom(database.volumeMounts)],
  }
}

function volumes(dynakube: DynaKube): readonly Mounted[] {
  const { trustedCAs } = dynakube.spec
  const readOnly = true
  const tokens = namesOf(dynakube).extensionsTokenSecret
  const certificate = extensionControllerTlsSecretName(dynakube)
  return [
    { volume: { name: 'tmp-data', emptyDir: {} }, mount: { mountPath: '/tmp' } },
    {
      volume: {
        name: 'auth-token',
        secret: { secretName: tokens, items: [{ key: EXTENSION_TOKEN_KEYS.datasource, path: 'auth-token' }] },
      },
      mount: { mountPath: '/var/run/dynatrace/executor/token', readOnly },
    },
    {
      volume: {
        name: 'https-certs',
        secret: { secretName: certificate, items: [{ key: 'tls.crt', path: 'tls.crt' }] },
      },
      mount: { mountPath: '/var/ssl-certs/dynatrace', readOnly },
    },
    ...(trustedCAs
      ? [
          {
            volume: {
              name: 'custom-certs',
              configMap: { name: trustedCAs, items: [{ key: 'certs', path: 'custom.crt' }] },
            },
            mount: { mountPath: '/var/ssl-certs/user', readOnly },
          },
        ]
      : []),
  ]
}
