/** Certificates that the operator makes once and keeps in Secrets: a lost or damaged one is replaced. */
import { X509Certificate } from 'node:crypto'
import type { KeyPair } from '../generated/self-signed.ts'
import type { SecretData } from '../rendering/secret-data.ts'
import { REASONS } from './conditions/reasons.ts'
import type { DynaKubeContext } from './dynakube-component.ts'

/** The certificate in a Secret; `undefined` when it is absent or unreadable. */
export function keyPairOf(data: SecretData | undefined): KeyPair | undefined {
  const { 'tls.crt': certificate, 'tls.key': privateKey } = data ?? {}
  if (!certificate || !privateKey || !isReadable(certificate)) return undefined
  return { certificate, privateKey }
}

function isReadable(certificate: string): boolean {
  try {
    return new X509Certificate(certificate).serialNumber !== ''
  } catch {
    // A manual change has damaged the Secret: a new certificate replaces it.
    return false
  }
}

/**
 * Makes the certificate of a Service.
 *
 * @param type the condition that reports a failure
 *
 * *Errors*: those of making it, such as an address that cannot be parsed.
 */
export async function certificateFor(
  { primary, reporter, clock, dependencies, signal }: DynaKubeContext,
  type: string,
  service: string,
  addresses: readonly string[],
): Promise<KeyPair> {
  const host = `${service}.${primary.metadata.namespace ?? ''}`
  const hosts = [host, `${host}.svc`, `${host}.svc.cluster.local`]
  try {
    return await dependencies.certificates.make({ commonName: host, hosts, addresses }, clock, signal)
  } catch (error) {
    signal.throwIfAborted()
    const why = error instanceof Error ? error.message : String(error)
    const message = `making a certificate for ${host} failed: ${why}`
    reporter.setCondition({ type, status: 'False', reason: REASONS.secretGenerationFailed, message })
    throw error
  }
}
