/** Why a pod is injected or not, decided by the code of the webhook. */
import { isForbidden, Namespaces, Pods } from '@reeve/kube'
import { IgnoredNamespacePatterns } from '../../../api/ignored-namespaces.ts'
import type { DynaKube } from '../../../api/latest.ts'
import { INSTANCE_LABEL, instancesOf } from '../../../controllers/dynakube/components/injection/map-namespaces.ts'
import { FEATURES, type FeatureName } from '../../../webhooks/pods/annotations.ts'
import { decide } from '../../../webhooks/pods/decision.ts'
import { explain } from '../../../webhooks/pods/explain.ts'
import type { InjectablePod, InjectionInput, PodNamespace } from '../../../webhooks/pods/injection-input.ts'
import { mutatePod } from '../../../webhooks/pods/mutate-pod.ts'
import { INIT_CONTAINER } from '../../../webhooks/pods/pod-edits.ts'
import { readPod } from '../../../webhooks/pods/pod-shape.ts'
import { ensureCopies } from '../../../webhooks/pods/secret-copies.ts'
import { FORBIDDEN_REMEDY, find, readRemedy, reporterOf, type TroubleshootContext } from '../context.ts'
import type { CheckReporter } from '../finding.ts'

const TITLES: Readonly<Record<FeatureName, string>> = {
  codeModules: 'code modules',
  enrichment: 'metadata enrichment',
  exporter: 'OTLP exporter settings',
}

/** Explains the pod of the command line. */
export async function checkPod(context: TroubleshootContext, dynakubes: readonly DynaKube[]): Promise<void> {
  const { pod: key } = context
  if (key === undefined) return
  const reporter = reporterOf(context, 'pod')
  const title = `the pod ${key.namespace}/${key.name}`
  reporter.start(`checking why ${title} is injected or not ...`)
  try {
    const [pod, namespace] = await Promise.all([
      find(context, Pods, key),
      find(context, Namespaces, { name: key.namespace }),
    ])
    if (pod === undefined || namespace === undefined) {
      reporter.error(`${title} does not exist`, `list the names with: kubectl get pods -n ${key.namespace}`)
      return
    }
    const read = readPod(pod)
    if ('problem' in read) {
      reporter.error(`${title} cannot be read: ${read.problem}`, 'report this as a bug')
      return
    }
    const { labels = {}, annotations = {} } = namespace.metadata
    const found = { name: key.namespace, labels, annotations }
    const dynakube = dynakubeOf(reporter, found, dynakubes)
    if (dynakube !== undefined) await explainPod(context, reporter, read.pod, found, dynakube)
  } catch (error) {
    context.signal.throwIfAborted()
    // The account of the operator reads pods of its own namespace only.
    if (isForbidden(error)) {
      reporter.warning(
        `${title} is not explained: this account may not read pods of the namespace ${key.namespace}`,
        FORBIDDEN_REMEDY,
      )
    } else reporter.failed(`${title} cannot be explained`, error, readRemedy(error))
  }
}

/** The DynaKube of a namespace, by the label that the operator sets. */
function dynakubeOf(
  reporter: CheckReporter,
  namespace: PodNamespace,
  dynakubes: readonly DynaKube[],
): DynaKube | undefined {
  const label = namespace.labels[INSTANCE_LABEL]
  const labelled = dynakubes.find(({ metadata }) => metadata.name === label)
  if (labelled !== undefined) return labelled
  const field = `the label ${INSTANCE_LABEL} of the namespace ${namespace.name}`
  if (label !== undefined) {
    reporter.error(
      `${field} names the DynaKube ${label}, which does not exist`,
      'remove the label, or create that DynaKube again',
    )
    return undefined
  }
  const selecting = instancesOf(dynakubes, [namespace], new IgnoredNamespacePatterns()).get(namespace.name)
  if (selecting === undefined) {
    reporter.error(
      `no DynaKube selects the namespace ${namespace.name}, which is not injected therefore`,
      'check namespaceSelector in the DynaKube, the labels of the namespace, and the annotation feature.dynatrace.com/ignored-namespaces',
    )
  } else {
    reporter.error(
      `${field} is missing, although the DynaKube ${selecting} selects it`,
      'check that the operator runs, and its log; then restart the pod',
    )
  }
  return undefined
}

async function explainPod(
  context: TroubleshootContext,
  reporter: CheckReporter,
  pod: InjectablePod,
  namespace: PodNamespace,
  dynakube: DynaKube,
): Promise<void> {
  const { client, modules, operatorVersion, signal } = context
  const settings = { image: 'dynatrace-operator', operatorVersion, hasCsiDriver: modules.csiDriver, isOpenShift: false }
  // As it was before it was injected, as far as the decision depends on that.
  const initContainers = pod.spec.initContainers?.filter(({ name }) => name !== INIT_CONTAINER) ?? []
  const input: InjectionInput = {
    pod: { ...pod, spec: { ...pod.spec, initContainers } },
    namespace,
    dynakube,
    settings,
  }
  const decision = decide(input)
  const copies = [...decision.injectionSecrets, ...decision.exporterSecrets]
  const secrets = await ensureCopies(copies, { client, dynakube, namespace: namespace.name, dryRun: true, signal })
  // Which workload it is has no influence on whether the pod is injected.
  const result = mutatePod(input, decision, { secrets, workload: { kind: 'pod', name: pod.metadata.name ?? '' } })
  const { features } = explain(input, decision, result)
  const annotations = pod.metadata.annotations ?? {}
  // One key per feature, written above.
  for (const feature of Object.keys(TITLES) as readonly FeatureName[]) {
    const { isOn, because, decidedBy } = features[feature]
    const isInjected = annotations[FEATURES[feature].injected] === 'true'
    const recorded = annotations[FEATURES[feature].reason]
    const title = TITLES[feature]
    if (isInjected) reporter.ok(`the pod has ${title}`)
    else if (isOn) {
      const past = recorded === undefined ? '' : ` (when it was created: ${recorded})`
      reporter.error(
        `the pod does not have ${title}, although it would get them now${past}`,
        'recreate the pod, for example with: kubectl rollout restart; if that does not help, check the webhook above',
      )
    } else if (feature === 'codeModules')
      reporter.warning(`the pod does not get ${title}: ${because}`, `change ${decidedBy}`)
    else reporter.info(`the pod does not get ${title}: ${because} (${decidedBy})`)
  }
}
