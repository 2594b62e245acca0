/** Which nodes, and which company, pods prefer or need. */
import { Type } from 'typebox'
import {
  atomicGroup,
  atomicList,
  atomicTextList,
  group,
  requiredAtomicGroup,
  requiredAtomicList,
  requiredGroup,
  requiredInt32,
  requiredText,
} from '../fields/fields.ts'
import { labelSelector, selectorRequirement } from './label-selector.ts'

const PREFERRED = 'Wishes: the node with the highest sum of weights is chosen. Pods already running stay.'
const REQUIRED = 'Must hold when the pod is scheduled. Pods already running stay.'
const WEIGHT = 'How much this wish counts, from 1 to 100.'

const nodeSelectorTerm = {
  matchExpressions: atomicList(selectorRequirement('label'), 'Conditions on the labels of the node.'),
  matchFields: atomicList(selectorRequirement('field'), 'Conditions on the fields of the node.'),
}

/** Which nodes pods prefer or need. */
export const nodeAffinity = (description: string) =>
  group(
    {
      preferredDuringSchedulingIgnoredDuringExecution: atomicList(
        Type.Object({
          preference: requiredAtomicGroup(nodeSelectorTerm, 'The nodes that are wished for.'),
          weight: requiredInt32(WEIGHT),
        }),
        PREFERRED,
      ),
      requiredDuringSchedulingIgnoredDuringExecution: atomicGroup(
        {
          nodeSelectorTerms: requiredAtomicList(
            Type.Object(nodeSelectorTerm, { 'x-kubernetes-map-type': 'atomic' }),
            'Alternatives: a node matches if one of them does.',
          ),
        },
        REQUIRED,
      ),
    },
    description,
  )

const podAffinityTerm = {
  labelSelector: labelSelector('The pods meant.'),
  namespaceSelector: labelSelector('Namespaces in which the pods are, by label.'),
  namespaces: atomicTextList('Namespaces in which the pods are; that of the pod if both are left out.'),
  matchLabelKeys: atomicTextList('Labels whose values they share with the new pod.'),
  mismatchLabelKeys: atomicTextList('Labels in whose values they differ from the new pod.'),
  topologyKey: requiredText('The node label that says what one place is, such as kubernetes.io/hostname.'),
}

const podAffinity = (description: string) =>
  group(
    {
      preferredDuringSchedulingIgnoredDuringExecution: atomicList(
        Type.Object({
          podAffinityTerm: requiredGroup(podAffinityTerm, 'The company meant.'),
          weight: requiredInt32(WEIGHT),
        }),
        PREFERRED,
      ),
      requiredDuringSchedulingIgnoredDuringExecution: atomicList(Type.Object(podAffinityTerm), REQUIRED),
    },
    description,
  )

/** Which nodes, and which company, pods prefer or need. */
export const affinity = (description: string) =>
  group(
    {
      nodeAffinity: nodeAffinity('Which nodes the pods prefer or need.'),
      podAffinity: podAffinity('Which pods they like to be near to.'),
      podAntiAffinity: podAffinity('Pods that they must not run beside.'),
    },
    description,
  )
