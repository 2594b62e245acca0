/** The pods of a Job: their template and completion index. */
import type { Draft } from '../kinds/meta.ts'
import type { Container, Pod, PodTemplate } from '../kinds/pods.ts'
import type { Job } from '../kinds/workloads.ts'
import { podFromTemplate } from '../pod-creation.ts'

/** Keeps a pod until it is counted. */
export const TRACKING_FINALIZER = 'batch.kubernetes.io/job-tracking'

const INDEX = 'batch.kubernetes.io/job-completion-index'
const INDEX_FAILURES = 'batch.kubernetes.io/job-index-failure-count'
const INDEX_VARIABLE = 'JOB_COMPLETION_INDEX'

/** Whether the pod still has to be counted, or is being counted. */
export function isTracked(pod: Pod): boolean {
  return pod.metadata.finalizers?.includes(TRACKING_FINALIZER) ?? false
}

/** The completion index of a pod of an indexed Job. */
export function completionIndex(pod: Pod): number | undefined {
  const text = pod.metadata.annotations?.[INDEX]
  return text === undefined ? undefined : Number.parseInt(text, 10)
}

/** How often the index of a pod had failed when the pod was created, in a Job with a limit for each index. */
export function failuresBefore(pod: Pod): number {
  const count = Number(pod.metadata.annotations?.[INDEX_FAILURES] ?? 0)
  // Anyone can write annotations.
  return Number.isSafeInteger(count) && count >= 0 ? count : 0
}

/** A pod of the Job, for one index if the Job is indexed; `failures` is how often that has failed. */
export function jobPod(job: Job, index: number | undefined, failures = 0): Draft<Pod> {
  const { name, uid } = job.metadata
  const labels = {
    'batch.kubernetes.io/job-name': name,
    'batch.kubernetes.io/controller-uid': uid,
    'job-name': name,
    'controller-uid': uid,
  }
  const finalizers = [TRACKING_FINALIZER]
  if (index === undefined) return podFromTemplate(job, job.spec.template, { labels, finalizers })
  const draft = podFromTemplate(job, withIndex(job, index), {
    labels: { ...labels, [INDEX]: `${index}` },
    annotations: {
      [INDEX]: `${index}`,
      ...(job.spec.backoffLimitPerIndex === undefined ? {} : { [INDEX_FAILURES]: `${failures}` }),
    },
    finalizers,
  })
  return { ...draft, metadata: { ...draft.metadata, generateName: `${name}-${index}-` } }
}

function withIndex(job: Job, index: number): PodTemplate {
  const { template } = job.spec
  const variable = {
    name: INDEX_VARIABLE,
    valueFrom: { fieldRef: { fieldPath: `metadata.annotations['${INDEX}']` } },
  }
  const withVariable = (container: Container): Container => {
    const hasVariable = container.env?.some((entry) => entry.name === INDEX_VARIABLE) ?? false
    return hasVariable ? container : { ...container, env: [...(container.env ?? []), variable] }
  }
  const { spec } = template
  return {
    ...template,
    spec: {
      ...spec,
      hostname: spec.hostname ?? `${job.metadata.name}-${index}`,
      containers: spec.containers.map(withVariable),
      ...(spec.initContainers === undefined ? {} : { initContainers: spec.initContainers.map(withVariable) }),
    },
  }
}
