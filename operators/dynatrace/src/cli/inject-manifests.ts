/** Injects the pods of files as the webhook would, and says what was assumed about the cluster. */
import { type Manifests, objectsIn, titleOf } from '@reeve/cli/manifests'
import { isRecord } from '@reeve/http'
import type { KubeObject, PodTemplateSpec } from '@reeve/kube'
import manifest from '../../package.json' with { type: 'json' }
import { IgnoredNamespacePatterns } from '../api/ignored-namespaces.ts'
import { API_GROUP, API_KINDS } from '../api/kinds.ts'
import type { DynaKube, DynaKubeStatus } from '../api/latest.ts'
import { reviewBySchema } from '../api/schema-review.ts'
import { INSTANCE_LABEL, instancesOf } from '../controllers/dynakube/components/injection/map-namespaces.ts'
import { withoutNulls } from '../webhooks/decode.ts'
import { FEATURES, OVERALL } from '../webhooks/pods/annotations.ts'
import { decide } from '../webhooks/pods/decision.ts'
import { type Explanation, explain } from '../webhooks/pods/explain.ts'
import type {
  InjectablePod,
  InjectionInput,
  InjectionSettings,
  PodNamespace,
  Workload,
} from '../webhooks/pods/injection-input.ts'
import { mutatePod } from '../webhooks/pods/mutate-pod.ts'
import { readPod } from '../webhooks/pods/pod-shape.ts'
import { no } from '../webhooks/pods/verdict.ts'

/** One pod. */
export interface InjectedManifest extends Explanation {
  /** The pod or workload in the files, such as `Deployment shop/web`. */
  readonly source: string
  /** `namespace/name` of the DynaKube that the namespace belongs to, or would. */
  readonly dynakube: string
  readonly before: InjectablePod
  readonly after: InjectablePod
  /** What was assumed without a cluster. */
  readonly notes: readonly string[]
  /** Annotations of a running pod in which the webhook left its reasons. */
  readonly recorded: Readonly<Record<string, string>>
}

/** All pods of the files. */
export interface InjectionReport {
  readonly pods: readonly InjectedManifest[]
  /** Why files cannot be used. */
  readonly problems: readonly string[]
}

interface FoundPod {
  readonly pod: InjectablePod
  readonly source: string
  readonly workload: Workload | undefined
}

type OfflineSettings = Omit<InjectionSettings, 'operatorVersion'>

/** Injects every pod. */
export function injectManifests(manifests: Manifests, settings: OfflineSettings): InjectionReport {
  const problems = manifests.problems.map(({ file, line, column, message }) => `${file}:${line}:${column}: ${message}`)
  const pods: FoundPod[] = []
  const dynakubes: DynaKube[] = []
  const namespaces = new Map<string, PodNamespace>()
  for (const entry of objectsIn(manifests.documents)) {
    if (!('object' in entry)) {
      problems.push(`${entry.file}:${entry.line}:${entry.column}: ${entry.message}`)
      continue
    }
    const object = withoutNulls(entry.object)
    if (object.apiVersion.startsWith(`${API_GROUP}/`)) {
      const read = readDynaKube(object)
      if ('dynakube' in read) dynakubes.push(read.dynakube)
      else problems.push(`${entry.file}: ${titleOf(object)}: ${read.problem}`)
    } else if (object.apiVersion === 'v1' && object.kind === 'Namespace') {
      const { name = '', labels = {}, annotations = {} } = object.metadata
      namespaces.set(name, { name, labels: { 'kubernetes.io/metadata.name': name, ...labels }, annotations })
    } else {
      const found = findPod(object)
      if (found === undefined) continue
      if ('problem' in found) problems.push(`${entry.file}: ${titleOf(object)}: ${found.problem}`)
      else pods.push(found)
    }
  }
  if (pods.length === 0) problems.push('the files contain neither a Pod nor a workload with a pod template')
  if (dynakubes.length === 0) problems.push('the files of --dynakube do not contain a DynaKube that can be used')
  if (problems.length > 0) return { pods: [], problems }
  const complete = { ...settings, operatorVersion: manifest.version }
  return { pods: pods.map((found) => injectOne(found, dynakubes, namespaces, complete)), problems }
}

function readDynaKube(object: KubeObject): { readonly dynakube: DynaKube } | { readonly problem: string } {
  const kind = API_KINDS.find(({ crd }) => crd.kind === object.kind && crd.kind === 'DynaKube')
  const version = object.apiVersion.slice(API_GROUP.length + 1)
  if (kind === undefined || !(version in kind.crd.versions))
    return { problem: `${object.apiVersion} is not a DynaKube` }
  const { object: complete, problems } = reviewBySchema(kind.crd, version, object)
  const [wrong] = problems
  if (wrong !== undefined) return { problem: `${wrong.field} ${wrong.message}` }
  // What the schema admits is converted to the stored version.
  const { status, spec, ...dynakube } = kind.convert(complete, 'v1beta6') as DynaKube
  const hasStatus = Object.keys((object as DynaKube).status ?? {}).length > 0
  // A conversion adds a status.
  return { dynakube: { ...dynakube, spec: spec ?? {}, ...(hasStatus && status && { status }) } }
}

/** Where workloads have their pod template. */
const TEMPLATES: Readonly<Record<string, readonly string[]>> = {
  Deployment: ['spec', 'template'],
  ReplicaSet: ['spec', 'template'],
  StatefulSet: ['spec', 'template'],
  DaemonSet: ['spec', 'template'],
  ReplicationController: ['spec', 'template'],
  DeploymentConfig: ['spec', 'template'],
  Job: ['spec', 'template'],
  CronJob: ['spec', 'jobTemplate', 'spec', 'template'],
}

function findPod(object: KubeObject): FoundPod | { readonly problem: string } | undefined {
  const source = titleOf(object)
  if (object.apiVersion === 'v1' && object.kind === 'Pod') {
    const read = readPod(object)
    return 'pod' in read ? { pod: read.pod, source, workload: undefined } : read
  }
  const path = Object.hasOwn(TEMPLATES, object.kind) ? TEMPLATES[object.kind] : undefined
  if (path === undefined) return undefined
  let template: unknown = object
  for (const name of path) template = isRecord(template) ? template[name] : undefined
  if (!isRecord(template)) return { problem: `${path.join('.')} must be an object` }
  const { namespace, name = '' } = object.metadata
  // Its shape is checked below.
  const { metadata, spec } = template as PodTemplateSpec
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...metadata, generateName: `${name}-`, ...(namespace !== undefined && { namespace }) },
    ...(spec !== undefined && { spec }),
  }
  const read = readPod(pod)
  return 'pod' in read ? { pod: read.pod, source, workload: { kind: object.kind.toLowerCase(), name } } : read
}

function injectOne(
  { pod, source, workload }: FoundPod,
  dynakubes: readonly DynaKube[],
  namespaces: ReadonlyMap<string, PodNamespace>,
  settings: InjectionSettings,
): InjectedManifest {
  const notes: string[] = []
  const name = pod.metadata.namespace ?? 'default'
  const namespace = namespaces.get(name) ?? assumedNamespace(name, notes)
  const { dynakube, obstacle } = dynakubeFor(namespace, dynakubes, notes)
  const input: InjectionInput = { pod, namespace, dynakube: withStatus(dynakube, notes), settings }
  const decided = decide(input)
  const decision = obstacle === undefined ? decided : { ...decided, skipped: no(obstacle.because, obstacle.decidedBy) }
  const secrets = new Map(
    [...decision.injectionSecrets, ...decision.exporterSecrets].map((secret) => [secret, { isPresent: true } as const]),
  )
  if (secrets.size > 0 && decision.skipped === undefined)
    notes.push(`assumed that the Secrets exist: ${[...secrets.keys()].join(', ')}`)
  const owner = workload ?? assumedWorkload(pod, notes)
  const result = mutatePod(input, decision, { secrets, workload: owner })
  return {
    ...explain(input, decision, result),
    source,
    dynakube: `${dynakube.metadata.namespace ?? 'dynatrace'}/${dynakube.metadata.name ?? ''}`,
    before: pod,
    after: result.pod,
    notes,
    recorded: recordedReasons(pod),
  }
}

function assumedNamespace(name: string, notes: string[]): PodNamespace {
  notes.push(`the Namespace ${name} is not in the files: assumed to have no labels and annotations`)
  return { name, labels: { 'kubernetes.io/metadata.name': name }, annotations: {} }
}

/** The DynaKube that the namespace is labelled with or, without a label, would be. */
function dynakubeFor(namespace: PodNamespace, dynakubes: readonly DynaKube[], notes: string[]) {
  const [first] = dynakubes
  if (first === undefined) throw new Error('no DynaKube given')
  const label = namespace.labels[INSTANCE_LABEL]
  const labelled = dynakubes.find(({ metadata }) => metadata.name === label)
  if (labelled !== undefined) return { dynakube: labelled }
  const field = `Namespace metadata.labels[${INSTANCE_LABEL}]`
  if (label !== undefined) {
    const because = `the namespace belongs to the DynaKube ${label}, which is not in the files`
    return { dynakube: first, obstacle: { because, decidedBy: field } }
  }
  const patterns = new IgnoredNamespacePatterns()
  const instance = instancesOf(dynakubes, [namespace], patterns).get(namespace.name)
  const selecting = dynakubes.find(({ metadata }) => metadata.name === instance)
  if (selecting !== undefined) {
    notes.push(`assumed that the operator has labelled the namespace ${namespace.name} with the DynaKube ${instance}`)
    return { dynakube: selecting }
  }
  if (!patterns.of(first).includes(namespace.name)) return { dynakube: first }
  const because = `the namespace ${namespace.name} is ignored: it is the operator's own, one of the platform, or listed`
  const decidedBy = 'DynaKube metadata.annotations[feature.dynatrace.com/ignored-namespaces]'
  return { dynakube: first, obstacle: { because, decidedBy } }
}

/** As after the first reconcile. */
const ASSUMED_STATUS: DynaKubeStatus = {
  kubeSystemUUID: '(cluster UID)',
  codeModules: { version: '(version)', imageID: '(image)' },
  oneAgent: { connectionInfoStatus: { tenantUUID: '(tenant)' } },
}

function withStatus(dynakube: DynaKube, notes: string[]): DynaKube {
  if (dynakube.status !== undefined) return dynakube
  notes.push(`the DynaKube ${dynakube.metadata.name} has no status: assumed that the operator has reconciled it`)
  return { ...dynakube, status: ASSUMED_STATUS }
}

/** The nearest owner. The name of a ReplicaSet ends in a hash, which identifies its Deployment. */
function assumedWorkload(pod: InjectablePod, notes: string[]): Workload {
  const owner = pod.metadata.ownerReferences?.find(({ controller }) => controller === true)
  if (owner === undefined) return { kind: 'pod', name: pod.metadata.name ?? pod.metadata.generateName ?? '' }
  const hash = pod.metadata.labels?.['pod-template-hash']
  const suffix = `-${hash}`
  const isOfDeployment = owner.kind === 'ReplicaSet' && hash !== undefined && owner.name.endsWith(suffix)
  const workload = isOfDeployment
    ? { kind: 'deployment', name: owner.name.slice(0, -suffix.length) }
    : { kind: owner.kind.toLowerCase(), name: owner.name }
  notes.push(`assumed that the pod belongs to the ${workload.kind} ${workload.name}`)
  return workload
}

function recordedReasons({ metadata: { annotations = {} } }: InjectablePod): Readonly<Record<string, string>> {
  const keys = [OVERALL, ...Object.values(FEATURES)].map(({ reason }) => reason)
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => keys.includes(key)))
}
