/** The Job that copies an agent out of an image which the container runtime of this node pulls. */
import type { Job, Stored } from '@reeve/kube'
import { withControllerReference } from '@reeve/runtime/owner-references'
import { codeModulesPullPolicy } from '../../api/dynakube/feature-facts.ts'
import { type DynaKube, DynaKubes } from '../../api/latest.ts'
import { ANNOTATIONS } from '../../controllers/rendering/annotations.ts'
import { hashOf } from '../../controllers/rendering/hashes.ts'
import { appLabels } from '../../controllers/rendering/labels.ts'
import { DATA_ROOT, DRIVER_OBJECTS } from '../names.ts'
import type { JobSettings } from './job-settings.ts'

/** The node of a Job. Names of nodes may be longer than a label. */
const NODE_LABEL = 'internal.oneagent.dynatrace.com/node-hash'

const APP = 'codemodule'
const VOLUME = 'dynatrace-codemodules'
const DEADLINE_S = 10 * 60
/** How long the pod of a Job may still run after the Job is gone. */
const STOPPING_S = 60
/** The longest that anything writes into the scratch directory of a Job. */
export const JOB_LIFETIME_MS = (DEADLINE_S + STOPPING_S) * 1_000
/** Long enough that its end is noticed, short enough that a failed one is soon replaced. */
const KEPT_S = 10

/** What a Job does, and where. */
export interface DownloadJob {
  readonly image: string
  /** Below `codemodules`. */
  readonly folder: string
  readonly nodeName: string
  /** The data directory as a path of the node. */
  readonly hostDataRoot: string
  readonly settings: JobSettings
}

/** The name of the Job for an image on a node; the same after every restart. */
export const jobName = (image: string, nodeName: string): string =>
  `codemodule-download-${hashOf(`${image}${nodeName}`)}`

/** Selects the Jobs of a node. */
export const jobSelector = (nodeName: string): string =>
  `app.kubernetes.io/name=${APP},${NODE_LABEL}=${hashOf(nodeName)}`

/** Whether a Job belongs to a DynaKube, as those that this provisioner creates. */
export function isDownloadJob({ metadata }: Stored<Job>): boolean {
  const controller = metadata.ownerReferences?.find((reference) => reference.controller)
  return controller?.kind === DynaKubes.kind && controller.apiVersion.startsWith(`${DynaKubes.group}/`)
}

/**
 * Renders the Job. Its paths are those inside of its pod, which mounts the data directory where the driver has it.
 *
 * @example
 * await client.create(Jobs, renderJob(dynakube, { image, folder, nodeName, hostDataRoot, settings }))
 */
export function renderJob(dynakube: Stored<DynaKube>, job: DownloadJob): Job {
  const { image, folder, nodeName, settings } = job
  const name = jobName(image, nodeName)
  const { annotations, tolerations, securityContext, resources, priorityClassName } = settings
  const own = appLabels({ name: APP, owner: dynakube.metadata.name, component: '', version: '' }).all
  const labels = { ...settings.labels, ...own }
  const { customPullSecret } = dynakube.spec
  const rendered: Job = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      namespace: dynakube.metadata.namespace ?? '',
      name,
      labels: { ...labels, [NODE_LABEL]: hashOf(nodeName) },
      annotations,
    },
    spec: {
      activeDeadlineSeconds: DEADLINE_S,
      ttlSecondsAfterFinished: KEPT_S,
      template: {
        metadata: { labels, annotations: { ...annotations, [ANNOTATIONS.inject]: 'false' } },
        spec: {
          nodeName,
          restartPolicy: 'OnFailure',
          automountServiceAccountToken: false,
          serviceAccountName: DRIVER_OBJECTS,
          serviceAccount: DRIVER_OBJECTS,
          ...(priorityClassName && { priorityClassName }),
          tolerations,
          ...(customPullSecret && { imagePullSecrets: [{ name: customPullSecret }] }),
          volumes: [{ name: VOLUME, hostPath: { path: job.hostDataRoot } }],
          containers: [
            {
              name: 'codemodule-download',
              image,
              imagePullPolicy: codeModulesPullPolicy(dynakube) ?? 'IfNotPresent',
              args: [
                '--source=/opt/dynatrace/oneagent',
                `--target=${DATA_ROOT}/codemodules/${folder}`,
                `--work=${DATA_ROOT}/work/${name}`,
              ],
              volumeMounts: [{ name: VOLUME, mountPath: DATA_ROOT }],
              ...(securityContext && { securityContext }),
              ...(resources && { resources }),
            },
          ],
        },
      },
    },
  }
  const hash = { [ANNOTATIONS.templateHash]: hashOf(rendered) }
  const metadata = { ...rendered.metadata, annotations: { ...annotations, ...hash } }
  return withControllerReference(dynakube, { ...rendered, metadata })
}
