/** Lets pods stay for five minutes on a node that is unreachable, unless they have their own tolerations. */

import type { AdmissionPlugin } from '../api/admission-plugin.ts'
import { arrayAt, isJsonObject, type JsonObject, objectAt } from '../json.ts'

const taints = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']
const TOLERATION_SECONDS = 300

/** The plug-in DefaultTolerationSeconds. */
export const defaultTolerationSeconds: AdmissionPlugin = {
  name: 'DefaultTolerationSeconds',
  mutate: ({ resource, operation, subresource, object }) => {
    const isPod = resource.group === '' && resource.plural === 'pods' && (subresource ?? '') === ''
    if (!isPod || (operation !== 'CREATE' && operation !== 'UPDATE') || object === undefined) return object
    const spec = objectAt(object, 'spec')
    const tolerations = arrayAt(spec, 'tolerations').filter(isJsonObject)
    const missing = taints.filter((taint) => !tolerations.some((toleration) => tolerates(toleration, taint)))
    if (missing.length === 0) return object
    const added = missing.map((key) => ({
      key,
      operator: 'Exists',
      effect: 'NoExecute',
      tolerationSeconds: TOLERATION_SECONDS,
    }))
    return { ...object, spec: { ...spec, tolerations: [...tolerations, ...added] } }
  },
}

function tolerates(toleration: JsonObject, taint: string): boolean {
  const key = toleration.key ?? ''
  const effect = toleration.effect ?? ''
  return (key === taint || key === '') && (effect === 'NoExecute' || effect === '')
}
