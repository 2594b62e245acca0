/** The certificate that the operator makes for gateways. It is there before them, and although they may have to wait. */
import { Secrets } from '@reeve/kube'
import { desired } from '@reeve/runtime'
import {
  activeGateTlsSecretName,
  automaticTlsSecretName,
  hasActiveGate,
  hasActiveGateCertificate,
} from '../../../../api/dynakube/active-gate-facts.ts'
import { encodeSecret } from '../../../rendering/secret-data.ts'
import { type Component, known } from '../../component.ts'
import { CONDITIONS } from '../../condition-types.ts'
import { created } from '../../object-conditions.ts'
import { resolveActiveGateCertificate } from '../../resolve/generated.ts'
import { gatewayPartLabels } from './labels.ts'
import { activeGateAddress } from './service.ts'

/** The Secret with the certificate, unless the user has one or wants none. */
export const activeGateCertificate: Component = {
  name: 'ActiveGate certificate',
  needs: [activeGateAddress],
  isEnabled: (dynakube) => hasActiveGate(dynakube) && hasActiveGateCertificate(dynakube),
  resolve: resolveActiveGateCertificate,
  conditions: (dynakube) => [created(CONDITIONS.activeGateTls, 'Secret', automaticTlsSecretName(dynakube))],
  mayOwn: (dynakube) => [{ resource: Secrets, name: automaticTlsSecretName(dynakube) }],
  render(input) {
    const { dynakube, material } = input
    const name = automaticTlsSecretName(dynakube)
    if (!hasActiveGate(dynakube) || activeGateTlsSecretName(dynakube) !== name) return []
    const { certificate, privateKey } = known(material.activeGateKeyPair, 'ActiveGate', 'its certificate')
    return [
      desired(Secrets, {
        metadata: { namespace: dynakube.metadata.namespace, name, labels: gatewayPartLabels(input).all },
        type: 'Opaque',
        // Clients mount the certificate by the name that it also has in Secrets of users.
        data: encodeSecret({ 'tls.crt': certificate, 'tls.key': privateKey, 'server.crt': certificate }),
      }),
    ]
  },
}
