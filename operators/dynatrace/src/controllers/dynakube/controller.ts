/** The controller of DynaKubes: what it watches and renders, and whose reconcile a change means. */
import { randomBytes } from 'node:crypto'
import {
  ConfigMaps,
  DaemonSets,
  Deployments,
  type KubeObject,
  Namespaces,
  type ObjectKey,
  Secrets,
  Services,
  StatefulSets,
  type Stored,
} from '@reeve/kube'
import { type CacheReader, watch, withDependencies } from '@reeve/runtime'
import { annotationsChanged, anyOf, generationChanged, labelsChanged } from '@reeve/runtime/controller'
import type { ComponentController } from '@reeve/runtime/operator'
import { DynaKubeCrd } from '../../api/dynakube/dynakube-crd.ts'
import { tokensSecretName } from '../../api/dynakube/names.ts'
import { IgnoredNamespacePatterns } from '../../api/ignored-namespaces.ts'
import { type DynaKube, DynaKubes } from '../../api/latest.ts'
import { createTenantClient } from '../../tenant/client/tenant-client.ts'
import { type ControllerScope, crdVersionCheck } from '../crd-version/crd-version.ts'
import { CertificateKeys } from '../generated/certificate-keys.ts'
import { LimitedCertificates } from '../generated/limited-certificates.ts'
import { type MakeCertificate, selfSigned } from '../generated/self-signed.ts'
import { concernedBy } from './components/injection/map-namespaces.ts'
import { COPIED_SECRETS, ELSEWHERE } from './components/injection/namespace-objects.ts'
import { hasIstio, IstioMissingError } from './components/istio/istio.ts'
import { ISTIO_KINDS } from './components/istio/resources.ts'
import { AGENT_PODS } from './components/one-agent/instances.ts'
import { COMPONENTS } from './components.ts'
import type { DynaKubeDependencies, DynaKubeOptions } from './dependencies.ts'
import { reportDynaKube, withHash } from './report.ts'

/** The kinds that a DynaKube owns in every cluster. In a mesh there are those of Istio as well. */
export const OWNED = [ConfigMaps, Secrets, Services, DaemonSets, Deployments, StatefulSets] as const

/** The name of the controller, and the source of its events. */
const NAME = 'dynakube-controller'

/** How many DynaKubes are reconciled at once: each mostly waits for its tenant. */
const CONCURRENCY = 4

/**
 * The controller. Secrets and ConfigMaps of users that a DynaKube names are watched as well: a corrected token is
 * noticed immediately.
 *
 * *Guarantees*: a reconcile may be cut after any write and run again; an unchanged DynaKube in an unchanged tenant costs
 * no request to the cluster, but for two lists when it asks for Istio, and none to the tenant within the request
 * threshold.
 *
 * @example
 * defineOperator({ name, controllers: [dynaKubeController({ namespace, operator, clusterId, detectsHostAvailability })] })
 */
export function dynaKubeController(options: DynaKubeOptions & ControllerScope): ComponentController<DynaKube> {
  const { namespace, release, isRehearsal, instancesIntervalMs } = options
  const inScope = namespace === undefined ? {} : { namespace }
  const keys = new CertificateKeys()
  const makeCertificate: MakeCertificate = async (subject, clock) => selfSigned(subject, clock, await keys.take())
  const dependencies: DynaKubeDependencies = {
    ...options,
    connect: options.connect ?? createTenantClient,
    randomBytes: options.randomBytes ?? randomBytes,
    certificates: new LimitedCertificates(options.selfSigned ?? makeCertificate),
    prepareKeys: (count) => (options.selfSigned === undefined ? keys.prepare(count) : undefined),
    ignoredNamespaces: options.ignoredNamespaces ?? new IgnoredNamespacePatterns(),
  }
  return {
    name: NAME,
    eventSource: NAME,
    for: { resource: DynaKubes, ...inScope, predicate: specOrMetadataChanged },
    owns: OWNED.map((resource) => ({ resource, ...inScope })),
    elsewhere: ELSEWHERE,
    onDemand: { kinds: ISTIO_KINDS, isWanted: hasIstio, missing: (cause) => new IstioMissingError(cause) },
    watches: [
      watch({ resource: Secrets, ...inScope, map: (secret, cache) => referringTo(secret, cache, secretsOf) }),
      watch({ resource: ConfigMaps, ...inScope, map: (map, cache) => referringTo(map, cache, configMapsOf) }),
      watch({ resource: Namespaces, metadataOnly: true, map: concerning(inScope, dependencies.ignoredNamespaces) }),
      watch({ ...AGENT_PODS, ...inScope }),
      ...COPIED_SECRETS.map((name) =>
        watch({
          resource: Secrets,
          fieldSelector: `metadata.name=${name}`,
          map: copyChanged(concerning(inScope, dependencies.ignoredNamespaces)),
        }),
      ),
    ],
    components: withDependencies(dependencies, COMPONENTS),
    decorate: withHash,
    report: (summary, reporter) => reportDynaKube(summary, reporter, instancesIntervalMs),
    ...crdVersionCheck(DynaKubeCrd.name, release),
    plannable: isRehearsal ?? false,
    concurrency: CONCURRENCY,
  }
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

/** The DynaKube may have been deleted while no operator was running, and left its objects behind. */
function concerning(inScope: { readonly namespace?: string }, patterns: IgnoredNamespacePatterns) {
  return ({ metadata }: Stored<KubeObject>, cache: CacheReader): readonly ObjectKey[] => {
    const { name, labels = {} } = metadata
    const names = concernedBy({ name, labels }, cache.list(DynaKubes, inScope), patterns)
    return names.map((name) => ({ ...inScope, name }))
  }
}

/** Whoever changes or deletes a copy in a namespace, the DynaKube of the namespace restores it. */
function copyChanged(of: ReturnType<typeof concerning>) {
  return ({ metadata: { namespace: name = '' } }: Stored<KubeObject>, cache: CacheReader): readonly ObjectKey[] => {
    const namespace = cache.get(Namespaces, { name })
    return namespace === undefined ? [] : of(namespace, cache)
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
