/** Secrets and ConfigMaps of users that a DynaKube names, besides those that other checks read. */
import { ConfigMaps, Secrets, type Stored } from '@reeve/kube'
import { hasActiveGate } from '../../../api/dynakube/active-gate-facts.ts'
import type { DynaKube } from '../../../api/latest.ts'
import { find, type TroubleshootContext } from '../context.ts'
import type { CheckReporter } from '../finding.ts'

interface Reference {
  readonly field: string
  readonly kind: 'Secret' | 'ConfigMap'
  readonly name: string | null | undefined
  /** Each of these is needed. */
  readonly keys: readonly string[]
}

/** Reports objects that do not exist, and keys that they lack. */
export async function checkReferences(
  context: TroubleshootContext,
  reporter: CheckReporter,
  dynakube: Stored<DynaKube>,
): Promise<void> {
  const namespace = dynakube.metadata.namespace ?? ''
  for (const { field, kind, name, keys } of referencesOf(dynakube)) {
    if (!name) continue
    const title = `${field}: the ${kind} ${namespace}/${name}`
    const key = { namespace, name }
    const object = kind === 'Secret' ? await find(context, Secrets, key) : await find(context, ConfigMaps, key)
    if (object === undefined) {
      reporter.error(`${title} does not exist: what needs it is not rolled out`, `create it, or correct ${field}`)
      continue
    }
    const missing = keys.filter((wanted) => object.data?.[wanted] === undefined)
    if (missing.length > 0) reporter.error(`${title} has no key ${missing.join(' and ')}`, 'add it')
  }
}

function referencesOf({ spec, ...dynakube }: DynaKube): readonly Reference[] {
  const { activeGate, telemetryIngest, templates } = spec
  const secret = (field: string, name: string | null | undefined, ...keys: readonly string[]): Reference => ({
    field: `spec.${field}`,
    kind: 'Secret',
    name,
    keys,
  })
  const gateways = hasActiveGate({ ...dynakube, spec })
    ? [
        secret('activeGate.tlsSecretName', activeGate?.tlsSecretName),
        secret('activeGate.customProperties.valueFrom', activeGate?.customProperties?.valueFrom, 'customProperties'),
      ]
    : []
  const controller = templates?.extensionExecutionController
  const template = 'templates.extensionExecutionController'
  const extensions: readonly Reference[] = [
    secret(`${template}.tlsRefName`, controller?.tlsRefName, 'tls.crt', 'tls.key'),
    secret(`${template}.customExtensionCertificates`, controller?.customExtensionCertificates),
    { field: `spec.${template}.customConfig`, kind: 'ConfigMap', name: controller?.customConfig, keys: [] },
  ]
  return [
    ...gateways,
    secret('telemetryIngest.tlsRefName', telemetryIngest?.tlsRefName, 'tls.crt', 'tls.key'),
    ...(spec.extensions ? extensions : []),
  ]
}
