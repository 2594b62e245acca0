/** An authority that this process trusts like those of the machine. */
import { getCACertificates, setDefaultCACertificates } from 'node:tls'

/**
 * Trusts a certificate authority, for servers of tests that stand for servers on the internet. Disposing ends it.
 *
 * @example
 * using _trust = trustAuthority(simulator.caCertificate)
 */
export function trustAuthority(pem: string): Disposable {
  const before = getCACertificates('default')
  setDefaultCACertificates([...before, pem])
  return { [Symbol.dispose]: () => setDefaultCACertificates(before) }
}
