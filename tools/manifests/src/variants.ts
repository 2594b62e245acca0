/** What is written for each operator: one set of manifests per variant. */
import { ManifestsError } from './manifests-error.ts'
import type { Values } from './merge-values.ts'

/** Values of a chart that make one set of manifests. */
export interface Variant {
  /** Name of the file and of the kustomize base. */
  readonly name: string
  readonly values: Values
}

/** How manifests of an operator are made. */
export interface OperatorManifests {
  /** Name of the release, which objects are named after. */
  readonly release: string
  /** Where objects are unless another namespace is asked for. */
  readonly namespace: string
  /** The value of the chart with the repository of the image. */
  readonly imageValue: 'image' | 'imageRef'
  readonly variants: readonly Variant[]
}

const dynatrace = (platform: string, hasDriver: boolean): Variant => ({
  name: hasDriver ? `${platform}-csi` : platform,
  values: {
    // Leaves out the labels of Helm, which are also in the selector of a Service.
    manifests: true,
    platform,
    csidriver: { enabled: hasDriver },
    // By default it depends on the image, which kustomize may change.
    imageRef: { pullPolicy: 'IfNotPresent' },
  },
})

/** Whoever applies the manifests upgrades the CRDs among them. */
const KUBERNETES: Variant = { name: 'kubernetes', values: { crds: { upgrade: false } } }

const OPERATORS: Readonly<Record<string, OperatorManifests>> = {
  webapp: {
    release: 'webapp-operator',
    namespace: 'webapp',
    imageValue: 'image',
    variants: [KUBERNETES],
  },
  collector: {
    release: 'collector-operator',
    namespace: 'collector',
    imageValue: 'image',
    variants: [KUBERNETES],
  },
  dynatrace: {
    release: 'dynatrace-operator',
    namespace: 'dynatrace',
    imageValue: 'imageRef',
    variants: [
      dynatrace('kubernetes', false),
      dynatrace('kubernetes', true),
      dynatrace('openshift', false),
      dynatrace('openshift', true),
    ],
  },
}

/** The operators that have manifests. */
export const OPERATOR_NAMES: readonly string[] = Object.keys(OPERATORS)

/** The manifests of an operator, by the name of its folder. */
export function operatorManifests(operator: string): OperatorManifests {
  const found = Object.hasOwn(OPERATORS, operator) ? OPERATORS[operator] : undefined
  if (found === undefined) throw new ManifestsError(`unknown operator "${operator}"; use ${OPERATOR_NAMES.join(', ')}`)
  return found
}
