/** Pods and what they are injected with, for tests. */
import type { Container, ObjectMeta, PodSpec } from '@reeve/kube'
import type { DynaKube, DynaKubeSpec, DynaKubeStatus } from '../../../api/latest.ts'
import { type DynaKubeParts, dynakube } from '../../../api/testing/build.ts'
import { decide } from '../decision.ts'
import type {
  InjectablePod,
  InjectionFacts,
  InjectionInput,
  InjectionSettings,
  PodNamespace,
} from '../injection-input.ts'
import { type InjectionResult, mutatePod } from '../mutate-pod.ts'

/** A tenant with every status field. */
export const READY: DynaKubeStatus = {
  kubeSystemUUID: 'cluster-uid',
  kubernetesClusterName: 'production',
  kubernetesClusterMEID: 'KUBERNETES_CLUSTER-1',
  codeModules: { version: '1.300.0.20250101-000000', imageID: 'registry.example.com/codemodules:1.300.0' },
  oneAgent: { connectionInfoStatus: { tenantUUID: 'tenant-uuid' } },
}

/** A DynaKube whose status says everything that injection needs. */
export const readyDynaKube = (spec: Partial<DynaKubeSpec>, parts: DynaKubeParts = {}): DynaKube =>
  dynakube(spec, { status: READY, ...parts })

/** Members of a spec. */
export const CLOUD_NATIVE = { oneAgent: { cloudNativeFullStack: {} } }
export const APPLICATION = { oneAgent: { applicationMonitoring: {} } }
export const ENRICHMENT = { metadataEnrichment: { enabled: true } }

/** DynaKubes with code modules, with enrichment, and with both. */
export const cloudNative: DynaKube = readyDynaKube(CLOUD_NATIVE)
export const enrichment: DynaKube = readyDynaKube(ENRICHMENT)
export const both: DynaKube = readyDynaKube({ ...CLOUD_NATIVE, ...ENRICHMENT })

/** What a test may say about a pod. */
export interface PodParts {
  readonly annotations?: Readonly<Record<string, string>>
  readonly metadata?: ObjectMeta
  readonly containers?: readonly Container[]
  readonly spec?: Partial<PodSpec>
}

/** A container `app` of a shop. */
export const app = (parts: Partial<Container> = {}): Container => ({
  name: 'app',
  image: 'registry.example.com/team/shop:1.2',
  ...parts,
})

/** A bare pod with one container. */
function pod({ annotations, metadata, containers = [app()], spec }: PodParts = {}): InjectablePod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'shop', namespace: 'shop', ...(annotations && { annotations }), ...metadata },
    spec: { containers, ...spec },
  }
}

/** A namespace without anything. */
const namespace = (parts: Partial<PodNamespace> = {}): PodNamespace => ({
  name: 'shop',
  labels: {},
  annotations: {},
  ...parts,
})

/** A webhook on plain Kubernetes with the CSI driver. */
const SETTINGS: InjectionSettings = {
  image: 'registry.example.com/dynatrace-operator:v1.8.1',
  operatorVersion: '1.8.1',
  hasCsiDriver: true,
  isOpenShift: false,
}

/** For {@link inputOf}: without the CSI driver. */
export const NO_CSI = { settings: { hasCsiDriver: false } }

/** The input of injection. */
export const inputOf = (
  of: DynaKube,
  parts: PodParts = {},
  more: { readonly namespace?: Partial<PodNamespace>; readonly settings?: Partial<InjectionSettings> } = {},
): InjectionInput => ({
  pod: pod(parts),
  dynakube: of,
  namespace: namespace(more.namespace),
  settings: { ...SETTINGS, ...more.settings },
})

/** A namespace with all Secrets, and a pod of a Deployment. */
export const FACTS: InjectionFacts = {
  secrets: new Map(
    [
      'dynatrace-bootstrapper-config',
      'dynatrace-bootstrapper-certs',
      'dynatrace-otlp-exporter-config',
      'dynatrace-otlp-exporter-certs',
    ].map((name) => [name, { isPresent: true }]),
  ),
  workload: { kind: 'deployment', name: 'shop' },
}

/** Facts without one of the Secrets. */
export const factsWithout = (name: string): InjectionFacts => ({
  ...FACTS,
  secrets: new Map([...FACTS.secrets, [name, { isPresent: false, problem: `Secret ${name} does not exist` }]]),
})

/** Facts of a pod whose owners could not be read. */
export const WITHOUT_WORKLOAD: InjectionFacts = { secrets: FACTS.secrets, workloadProblem: 'it does not exist' }

/** Decides and mutates. */
export const inject = (input: InjectionInput, facts: InjectionFacts = FACTS): InjectionResult =>
  mutatePod(input, decide(input), facts)

/** The init container of an injected pod. */
export const initOf = ({ pod: { spec } }: InjectionResult): Container | undefined =>
  spec.initContainers?.find(({ name }) => name === 'dynatrace-operator')

/** The arguments of the init container. */
export const argsOf = (result: InjectionResult): readonly string[] => initOf(result)?.args ?? []

/** Those of its arguments that start so. */
export const withArgument = (result: InjectionResult, start: string): readonly string[] =>
  argsOf(result).filter((argument) => argument.startsWith(start))

/** The plain variables of a container, by name. */
export const envOf = ({ pod: { spec } }: InjectionResult, name = 'app'): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(
    (spec.containers.find((container) => container.name === name)?.env ?? []).map((variable) => [
      variable.name,
      variable.value,
    ]),
  )
