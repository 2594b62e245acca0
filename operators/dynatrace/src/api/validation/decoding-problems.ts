/** Numbers that the schemas admit and that are out of range. */
import type { Problem } from '@reeve/crd'
import type { KubeObject } from '@reeve/kube'

const MAX_THRESHOLD_MINUTES = 65_535

/** Why an object of any version cannot be read, though its schema admits it; empty when it can. */
export function decodingProblems(object: KubeObject): readonly Problem[] {
  // Only these two members are read, and their types are checked first.
  const { kind, spec } = object as KubeObject & {
    readonly spec?: { readonly dynatraceApiRequestThreshold?: unknown; readonly proxy?: { readonly port?: unknown } }
  }
  const threshold = spec?.dynatraceApiRequestThreshold
  if (kind === 'DynaKube' && typeof threshold === 'number' && (threshold < 0 || threshold > MAX_THRESHOLD_MINUTES)) {
    const message = `must be from 0 to ${MAX_THRESHOLD_MINUTES} minutes, not ${threshold}`
    return [{ field: 'spec.dynatraceApiRequestThreshold', message }]
  }
  const port = spec?.proxy?.port
  if (kind === 'EdgeConnect' && typeof port === 'number' && port < 0) {
    return [{ field: 'spec.proxy.port', message: `must not be negative, and ${port} is` }]
  }
  return []
}
