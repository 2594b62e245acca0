/** A decision together with what decided it, so that users find out why without asking anyone. */

/** Whether something happens, and why. */
export interface Verdict {
  readonly isOn: boolean
  /** A sentence. */
  readonly because: string
  /** The annotation, label or field that decided, such as `Pod metadata.annotations[dynatrace.com/inject]`. */
  readonly decidedBy: string
}

/** It happens. */
export const yes = (because: string, decidedBy: string): Verdict => ({ isOn: true, because, decidedBy })

/** It does not happen. */
export const no = (because: string, decidedBy: string): Verdict => ({ isOn: false, because, decidedBy })

/** An annotation as users find it. */
export const annotationOf = (kind: 'Pod' | 'DynaKube' | 'Namespace', key: string): string =>
  `${kind} metadata.annotations[${key}]`
