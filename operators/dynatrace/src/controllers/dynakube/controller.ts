/** The controller of DynaKubes: what it watches, and whose reconcile a change means. */
import { ConfigMaps, type KubeObject, Namespaces, type ObjectKey, Secrets, type Stored } from '@reeve/kube'
import type { CacheReader } from '@reeve/runtime'
import {
  annotationsChanged,
  anyOf,
  type Controller,
  type ControllerEnvironment,
  type ControllerOptions,
  controller,
  generationChanged,
  labelsChanged,
} from '@reeve/runtime/controller'
import { recorderFor } from '@reeve/runtime/events'
import { tokensSecretName } from '../../api/dynakube/names.ts'
import { IgnoredNamespacePatterns } from '../../api/ignored-namespaces.ts'
import { type DynaKube, DynaKubes } from '../../api/latest.ts'
import { afterCrdVersion, type CrdVersionCheck } from '../crd-version/crd-version.ts'
import { concernedBy } from './components/injection/map-namespaces.ts'
import { COPIED_SECRETS } from './components/injection/namespace-objects.ts'
import { AGENT_PODS } from './components/one-agent/instances.ts'
import { type DynaKubeOptions, dynaKubeReconcile, OWNED } from './reconcile.ts'

/** The name of the controller, and the source of its events. */
const NAME = 'dynakube-controller'

/** Options of {@link dynaKubeController}. */
export interface DynaKubeControllerOptions extends DynaKubeOptions {
  /** The namespace of the operator; DynaKubes elsewhere are left alone. */
  readonly namespace: string
  /** Looked at before each reconcile. Without it CRDs of any release will do. */
  readonly crdVersion?: CrdVersionCheck
  readonly backoff?: ControllerOptions<DynaKube>['backoff']
  readonly onReconcile?: ControllerOptions<DynaKube>['onReconcile']
}

/** How many DynaKubes are worked on at once: each mostly waits for its tenant. */
const CONCURRENCY = 4

/**
 * Makes the controller. Secrets and ConfigMaps of users that a DynaKube names are watched as well: a corrected token is
 * noticed at once.
 *
 * @example
 * manager.add(dynaKubeController({ namespace, operator, clusterId }, { cache, client: manager.client, events }))
 */
export function dynaKubeController(
  options: DynaKubeControllerOptions,
  dependencies: ControllerEnvironment,
): Controller<DynaKube> {
  const { namespace, backoff, onReconcile } = options
  const ignoredNamespaces = options.ignoredNamespaces ?? new IgnoredNamespacePatterns()
  return controller(
    {
      name: NAME,
      for: { resource: DynaKubes, namespace, predicate: specOrMetadataChanged },
      owns: OWNED.map((resource) => ({ resource, namespace })),
      watches: [
        { resource: Secrets, namespace, map: (secret, cache) => referringTo(secret, cache, secretsOf) },
        { resource: ConfigMaps, namespace, map: (map, cache) => referringTo(map, cache, configMapsOf) },
        { resource: Namespaces, metadataOnly: true, map: concerning(namespace, ignoredNamespaces) },
        { ...AGENT_PODS, namespace },
      ],
      reads: COPIED_SECRETS.map((name) => ({ resource: Secrets, fieldSelector: `metadata.name=${name}` })),
      reconcile: afterCrdVersion(options.crdVersion, dynaKubeReconcile({ ...options, ignoredNamespaces })),
      concurrency: CONCURRENCY,
      ...(backoff && { backoff }),
      ...(onReconcile && { onReconcile }),
    },
    { ...dependencies, ...(dependencies.events && { events: recorderFor(NAME, dependencies.events) }) },
  )
}

/**
 * Changes of the status are the operator's own and cause no reconcile: one that fails with another message each time
 * would otherwise repeat without backoff.
 */
const specOrMetadataChanged = anyOf(generationChanged, labelsChanged, annotationsChanged)

function referringTo(
  { metadata }: Stored<KubeObject>,
  cache: CacheReader,
  namesIn: (dynakube: DynaKube) => readonly (string | null | undefined)[],
): readonly ObjectKey[] {
  const { namespace = '' } = metadata
  return cache
    .list(DynaKubes, { namespace })
    .filter((dynakube) => namesIn(dynakube).includes(metadata.name))
    .map(({ metadata: { name } }) => ({ namespace, name }))
}

/** Which DynaKube is concerned may have gone while no operator was running, and left everything behind. */
function concerning(namespace: string, patterns: IgnoredNamespacePatterns) {
  return ({ metadata }: Stored<KubeObject>, cache: CacheReader): readonly ObjectKey[] => {
    const { name, labels = {} } = metadata
    const names = concernedBy({ name, labels }, cache.list(DynaKubes, { namespace }), patterns)
    return names.map((name) => ({ namespace, name }))
  }
}

/** Secrets of the user that a DynaKube names. */
function secretsOf(dynakube: DynaKube): readonly (string | null | undefined)[] {
  const { proxy, activeGate, telemetryIngest, templates } = dynakube.spec
  return [
    tokensSecretName(dynakube),
    proxy?.valueFrom,
    activeGate?.tlsSecretName,
    activeGate?.customProperties?.valueFrom,
    telemetryIngest?.tlsRefName,
    templates?.extensionExecutionController?.tlsRefName,
  ]
}

/** ConfigMaps of the user that a DynaKube names. */
const configMapsOf = ({ spec }: DynaKube): readonly (string | null | undefined)[] => [spec.trustedCAs]
