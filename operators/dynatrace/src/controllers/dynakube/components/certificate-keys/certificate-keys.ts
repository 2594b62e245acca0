/**
 * Begins to generate keys before anything else: each takes a second, in which the operator talks to the tenant and
 * writes everything that needs no certificate.
 */
import { type DynaKubeComponent, RENDERS_NOTHING, viewOf } from '../../dynakube-component.ts'
import { keyPairOf } from '../../generated-certificate.ts'
import { automaticActiveGateCertificate } from '../active-gate/certificate.ts'
import { automaticExtensionsCertificate } from '../extensions/extensions.ts'

/** Only prepares; whoever needs a certificate makes it. */
export const certificateKeys: DynaKubeComponent = {
  name: 'keys of certificates',
  ...RENDERS_NOTHING,
  resolve(context) {
    const { primary, dependencies } = context
    const view = viewOf(context)
    const secrets = [automaticActiveGateCertificate(primary), automaticExtensionsCertificate(primary)]
    const missing = secrets.filter((name) => name !== undefined && keyPairOf(view.secret(name)) === undefined)
    dependencies.prepareKeys(missing.length)
    return undefined
  },
}
