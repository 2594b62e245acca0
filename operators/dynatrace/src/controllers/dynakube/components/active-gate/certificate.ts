/** The certificate of gateways. It exists before them, also while they wait. */
import { Secrets } from '@reeve/kube'
import { desired, waiting } from '@reeve/runtime'
import {
  activeGateTlsSecretName,
  automaticTlsSecretName,
  certificateOf,
  hasActiveGate,
  hasActiveGateCertificate,
} from '../../../../api/dynakube/active-gate-facts.ts'
import { namesOf } from '../../../../api/dynakube/names.ts'
import type { DynaKube } from '../../../../api/latest.ts'
import type { KeyPair } from '../../../generated/self-signed.ts'
import { encodeSecret } from '../../../rendering/secret-data.ts'
import { created, objectConditions } from '../../conditions/object-conditions.ts'
import { type DynaKubeComponent, renderInputOf, runsNoPods, viewOf } from '../../dynakube-component.ts'
import { certificateFor, keyPairOf } from '../../generated-certificate.ts'
import { tenant } from '../tenant/tenant.ts'
import { gatewayPartLabels } from './labels.ts'
import { activeGateAddress } from './service.ts'

const TYPE = 'TLSSecret'

/** The certificate of gateways. */
export interface ActiveGateCertificate {
  /** What the operator made; absent when the user has a certificate. */
  readonly activeGateKeyPair?: KeyPair
  /** The certificate that clients must trust: the user's or the operator's. */
  readonly activeGateCertificate?: string
}

const isNeeded = (dynakube: DynaKube): boolean => hasActiveGate(dynakube) && hasActiveGateCertificate(dynakube)

const isAutomatic = (dynakube: DynaKube): boolean =>
  activeGateTlsSecretName(dynakube) === automaticTlsSecretName(dynakube)

/** The Secret with a certificate that the operator makes, if it makes one. */
export const automaticActiveGateCertificate = (dynakube: DynaKube): string | undefined =>
  isNeeded(dynakube) && isAutomatic(dynakube) ? automaticTlsSecretName(dynakube) : undefined

/** The Secret with the certificate, unless the user provides or disables it. */
export const activeGateCertificate: DynaKubeComponent<ActiveGateCertificate> = {
  name: 'ActiveGate certificate',
  needs: [tenant, activeGateAddress],
  isEnabled: isNeeded,
  isReady: runsNoPods,
  mayOwn: (dynakube) => [{ resource: Secrets, name: automaticTlsSecretName(dynakube) }],
  /** An automatic certificate names the addresses of the Service, so it waits for them. */
  async resolve(context) {
    const { primary: dynakube } = context
    const given = viewOf(context).secret(activeGateTlsSecretName(dynakube))
    if (!isAutomatic(dynakube)) {
      const certificate = given && certificateOf(given)
      return certificate === undefined ? {} : { activeGateCertificate: certificate }
    }
    const addresses = dynakube.status?.activeGate?.serviceIPs ?? []
    const stored = keyPairOf(given)
    if (stored === undefined && addresses.length === 0) return waiting('the addresses of the ActiveGate Service')
    const pair = stored ?? (await certificateFor(context, TYPE, namesOf(dynakube).activeGate, addresses))
    return { activeGateKeyPair: pair, activeGateCertificate: pair.certificate }
  },
  render(input) {
    const { primary, facts } = input
    const { activeGateKeyPair: pair } = facts
    if (!isAutomatic(primary) || pair === undefined) return []
    const { all: labels } = gatewayPartLabels(renderInputOf(input))
    const { certificate, privateKey } = pair
    return [
      desired(Secrets, {
        metadata: { namespace: primary.metadata.namespace, name: automaticTlsSecretName(primary), labels },
        type: 'Opaque',
        // Clients mount the certificate by the key that it also has in Secrets of users.
        data: encodeSecret({ 'tls.crt': certificate, 'tls.key': privateKey, 'server.crt': certificate }),
      }),
    ]
  },
  ...objectConditions([created(TYPE, 'Secret', automaticTlsSecretName)]),
}
