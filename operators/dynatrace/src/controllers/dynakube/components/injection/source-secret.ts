/**
 * Secrets in the namespace of the operator that are copied into the namespaces of pods: by the operator and, for a
 * namespace that is seconds old, by the webhook.
 */
import { Secrets } from '@reeve/kube'
import { type DesiredObject, desired } from '@reeve/runtime'
import { FIXED_NAMES, namesOf } from '../../../../api/dynakube/names.ts'
import type { DynaKube } from '../../../../api/latest.ts'
import { coreLabels } from '../../../rendering/labels.ts'
import { encodeSecret, type SecretData } from '../../../rendering/secret-data.ts'
import type { RenderInput } from '../../dynakube-component.ts'

/** The Secret in the operator's namespace and the name of its copies. */
export function copiesOf(dynakube: DynaKube): ReadonlyMap<string, string> {
  const names = namesOf(dynakube)
  return new Map([
    [names.bootstrapperConfig, FIXED_NAMES.bootstrapperConfig],
    [names.bootstrapperCerts, FIXED_NAMES.bootstrapperCerts],
    [names.otlpExporterConfig, FIXED_NAMES.otlpExporterConfig],
    [names.otlpExporterCerts, FIXED_NAMES.otlpExporterCerts],
  ])
}

/** A Secret that is copied; none without data. */
export function sourceSecret(
  { dynakube, operator }: RenderInput,
  name: string,
  data: SecretData,
): readonly DesiredObject[] {
  if (Object.keys(data).length === 0) return []
  const owner = dynakube.metadata.name ?? ''
  const labels = coreLabels({ owner, component: 'webhook', operatorVersion: operator.version }).all
  const { namespace } = dynakube.metadata
  return [desired(Secrets, { metadata: { namespace, name, labels }, data: encodeSecret(data) })]
}
