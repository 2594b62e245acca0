/** A self-signed certificate for localhost and one address. */
import 'reflect-metadata'
import { webcrypto } from 'node:crypto'
import * as x509 from '@peculiar/x509'

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const HOUR_MS = 3_600_000

/** Certificate and key, both PEM; the certificate is its own authority. */
export async function ownCertificate(address: string): Promise<{ readonly certificate: string; readonly key: string }> {
  x509.cryptoProvider.set(webcrypto)
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=charts under test',
    keys,
    signingAlgorithm: ALGORITHM,
    notBefore: new Date(Date.now() - HOUR_MS),
    notAfter: new Date(Date.now() + HOUR_MS),
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.SubjectAlternativeNameExtension([
        { type: 'dns', value: 'localhost' },
        { type: 'ip', value: address },
      ]),
    ],
  })
  const exported = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)
  return { certificate: certificate.toString('pem'), key: x509.PemConverter.encode(exported, 'PRIVATE KEY') }
}
