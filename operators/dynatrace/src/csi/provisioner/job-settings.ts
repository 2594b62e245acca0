/** What the chart says about download Jobs, in the environment variable `helm.json`. */

import { decodeJson } from '@reeve/http/decode-json'
import type { ResourceRequirements, SecurityContext, Toleration } from '@reeve/kube'
import { Type } from 'typebox'

/** The environment variable that the chart writes. */
export const JOB_SETTINGS_VARIABLE = 'helm.json'

/** Settings of download Jobs. */
export interface JobSettings {
  readonly annotations: Readonly<Record<string, string>>
  readonly labels: Readonly<Record<string, string>>
  readonly tolerations: readonly Toleration[]
  readonly securityContext?: SecurityContext
  readonly resources?: ResourceRequirements
  readonly priorityClassName?: string
}

const Texts = Type.Record(Type.String(), Type.String())
/** `null` is how an empty value of the chart appears. */
const orNull = <T extends Parameters<typeof Type.Optional>[0]>(schema: T) =>
  Type.Optional(Type.Union([schema, Type.Null()]))
const AnyObject = Type.Record(Type.String(), Type.Unknown())
const Schema = Type.Object({
  annotations: orNull(Texts),
  labels: orNull(Texts),
  tolerations: orNull(Type.Array(AnyObject)),
  job: orNull(
    Type.Object({
      securityContext: orNull(AnyObject),
      resources: orNull(AnyObject),
      priorityClassName: orNull(Type.String()),
    }),
  ),
})

/** Without the chart, or with a text of it that cannot be read. */
const FALLBACK: JobSettings = {
  annotations: {},
  labels: {},
  tolerations: ['master', 'control-plane'].map((role) => ({
    key: `node-role.kubernetes.io/${role}`,
    operator: 'Exists',
    effect: 'NoSchedule',
  })),
  securityContext: {
    privileged: true,
    allowPrivilegeEscalation: true,
    readOnlyRootFilesystem: true,
    runAsNonRoot: false,
    runAsUser: 0,
    seLinuxOptions: { level: 's0' },
    seccompProfile: { type: 'RuntimeDefault' },
  },
  resources: { requests: { cpu: '300m', memory: '100Mi' } },
  priorityClassName: 'dynatrace-high-priority',
}

/**
 * Reads the environment variable. A readable text counts as it is, also where it leaves something out.
 *
 * @example
 * parseJobSettings(env['helm.json'])
 */
export function parseJobSettings(text: string | undefined): JobSettings {
  if (!text) return FALLBACK
  const decoded = decodeJson(Schema, Buffer.from(text))
  if ('problem' in decoded) return FALLBACK
  const { annotations, labels, tolerations, job } = decoded.value
  return {
    annotations: annotations ?? {},
    labels: labels ?? {},
    // The API server validates them; here they are only passed on.
    tolerations: (tolerations ?? []) as readonly Toleration[],
    ...(job?.securityContext && { securityContext: job.securityContext as SecurityContext }),
    ...(job?.resources && { resources: job.resources as ResourceRequirements }),
    ...(job?.priorityClassName && { priorityClassName: job.priorityClassName }),
  }
}
