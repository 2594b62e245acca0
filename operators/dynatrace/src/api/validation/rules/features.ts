/** Rules on extensions, KSPM, log monitoring, telemetry ingest and their images. */
import { hasKubernetesMonitoring } from '../../dynakube/active-gate-facts.ts'
import {
  hasDatabases,
  hasExtensions,
  hasKspm,
  hasPrometheus,
  hasStandaloneLogMonitoring,
  hasTelemetryIngest,
  INGEST_PROTOCOLS,
  ingestProtocols,
  kspmHostPaths,
} from '../../dynakube/feature-facts.ts'
import { telemetryIngestServiceName } from '../../dynakube/names.ts'
import { featureFlags } from '../../feature-flags.ts'
import type { DynaKube } from '../../latest.ts'
import { otherDynaKubes, type Rule, unlessUnreachable } from '../rule.ts'
import { repeatedValues } from './active-gate.ts'
import { isServiceName, SERVICE_NAME_RULE } from './names-and-images.ts'

type Templates = NonNullable<DynaKube['spec']['templates']>
type TemplateWithImage = {
  [K in keyof Templates]-?: NonNullable<Templates[K]> extends { readonly imageRef?: unknown } ? K : never
}[keyof Templates]

const image = (
  id: string,
  template: TemplateWithImage,
  feature: string,
  isNeeded: (dynakube: DynaKube) => boolean,
): Rule<DynaKube> => ({
  id,
  check: (dynakube) => {
    const { repository, tag } = dynakube.spec.templates?.[template]?.imageRef ?? {}
    if (!isNeeded(dynakube) || (repository && tag)) return undefined
    return `spec.templates.${template}.imageRef needs repository and tag, as ${feature} has no default image; set both`
  },
})

/** Whether the operator announces the cluster to the tenant. */
export const isClusterAnnounced = (dynakube: DynaKube): boolean =>
  hasKubernetesMonitoring(dynakube) && featureFlags(dynakube).automaticKubernetesApiMonitoring

/** The extension controller has an image and one kind of storage. */
export const extensionControllerRules: readonly Rule<DynaKube>[] = [
  image('DK-EEC-IMAGE', 'extensionExecutionController', 'the extension controller', hasExtensions),
  {
    id: 'DK-EEC-PV',
    check: (dynakube) => {
      const template = dynakube.spec.templates?.extensionExecutionController
      return hasExtensions(dynakube) && template?.useEphemeralVolume && template.persistentVolumeClaim
        ? 'spec.templates.extensionExecutionController: useEphemeralVolume and persistentVolumeClaim exclude each other; remove one of them'
        : undefined
    },
  },
]

/** KSPM has one gateway that monitors Kubernetes, an image and absolute paths. */
export const kspmRules: readonly Rule<DynaKube>[] = [
  {
    id: 'DK-KSPM-REPLICAS',
    check: (dynakube) => {
      const replicas = dynakube.spec.activeGate?.replicas ?? 1
      return hasKspm(dynakube) && replicas > 1
        ? `spec.activeGate.replicas is ${replicas}, but spec.kspm works with one ActiveGate only; set it to 1`
        : undefined
    },
  },
  image('DK-KSPM-IMAGE', 'kspmNodeConfigurationCollector', 'KSPM', hasKspm),
  {
    id: 'DK-KSPM-KUBEMON',
    check: (dynakube) =>
      hasKspm(dynakube) && !isClusterAnnounced(dynakube)
        ? 'spec.kspm needs the capability kubernetes-monitoring in spec.activeGate.capabilities and the flag automatic-kubernetes-api-monitoring not to be false; add the capability and remove the flag'
        : undefined,
  },
  {
    id: 'DK-KSPM-ROOT',
    check: (dynakube) => {
      const paths = kspmHostPaths(dynakube)
      return paths.length > 1 && paths.includes('/')
        ? `spec.kspm.mappedHostPaths contains / besides ${paths.filter((path) => path !== '/').join(', ')}; use either only / or specific paths`
        : undefined
    },
  },
  {
    id: 'DK-KSPM-REL',
    check: (dynakube) => {
      const relative = kspmHostPaths(dynakube).find((path) => !path.startsWith('/'))
      return relative === undefined
        ? undefined
        : `spec.kspm.mappedHostPaths contains "${relative}", which is relative; write it from the root, beginning with /`
    },
  },
]

/** Log agents have an image. */
export const logMonitoringRule = image(
  'DK-LM-IMAGE',
  'logMonitoring',
  'log monitoring without a OneAgent',
  hasStandaloneLogMonitoring,
)

const FIELD = 'spec.telemetryIngest'
const RESERVED = ['-extension-controller', '-telemetry-ingest', '-activegate', '-webhook']
const serviceName = ({ spec }: DynaKube) => spec.telemetryIngest?.serviceName ?? ''

/** Protocols are known and distinct, and the Service has a distinct name. An empty list means all protocols. */
export const telemetryIngestRules: readonly Rule<DynaKube>[] = [
  {
    id: 'DK-TI-UNKNOWN',
    check: (dynakube) => {
      const known: readonly string[] = INGEST_PROTOCOLS
      const odd = hasTelemetryIngest(dynakube) && ingestProtocols(dynakube).find((each) => !known.includes(each))
      return odd === false || odd === undefined
        ? undefined
        : `${FIELD}.protocols contains "${odd}", which is not supported; choose from ${known.join(', ')}`
    },
  },
  {
    id: 'DK-TI-DUP',
    check: (dynakube) => {
      const [repeated] = repeatedValues(ingestProtocols(dynakube))
      return repeated === undefined
        ? undefined
        : `${FIELD}.protocols contains "${repeated}" more than once; keep one of them`
    },
  },
  {
    id: 'DK-TI-NAME',
    check: (dynakube) => {
      const name = serviceName(dynakube)
      return name === '' || isServiceName(name)
        ? undefined
        : `${FIELD}.serviceName is "${name}", but may have 63 characters and ${SERVICE_NAME_RULE}; choose another one`
    },
  },
  {
    id: 'DK-TI-SUFFIX',
    check: (dynakube) => {
      const name = serviceName(dynakube)
      const suffix = RESERVED.find((each) => name.endsWith(each))
      return suffix === undefined
        ? undefined
        : `${FIELD}.serviceName is "${name}", but names that end in ${suffix} belong to the operator; choose another one`
    },
  },
  {
    id: 'DK-TI-SVCCONFLICT',
    check: (dynakube, lookups) =>
      unlessUnreachable(async () => {
        if (!hasTelemetryIngest(dynakube)) return undefined
        const name = telemetryIngestServiceName(dynakube)
        const others = (await otherDynaKubes(dynakube, lookups)).filter(hasTelemetryIngest)
        const rival = others.find((other) => telemetryIngestServiceName(other) === name)
        return rival === undefined
          ? undefined
          : `${FIELD}: the Service "${name}" is already used by DynaKube ${rival.metadata.name}; choose another serviceName`
      }),
  },
]

/** Collectors and executors of databases have images. */
export const collectorRules: readonly Rule<DynaKube>[] = [
  image(
    'DK-OTELC-IMAGE',
    'otelCollector',
    'the OpenTelemetry collector',
    (dynakube) => hasTelemetryIngest(dynakube) || hasPrometheus(dynakube),
  ),
  image('DK-DB-IMAGE', 'sqlExtensionExecutor', 'the executor for databases (sqlExtensionExecutor)', hasDatabases),
]
