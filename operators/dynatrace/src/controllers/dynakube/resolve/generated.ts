/** Secrets that the operator makes up once and then keeps: what exists is used again, what is lost is made anew. */
import { X509Certificate } from 'node:crypto'
import {
  activeGateTlsSecretName,
  automaticTlsSecretName,
  certificateOf,
} from '../../../api/dynakube/active-gate-facts.ts'
import { extensionControllerTlsSecretName, namesOf } from '../../../api/dynakube/names.ts'
import type { KeyPair } from '../../generated/self-signed.ts'
import { makeToken } from '../../generated/token.ts'
import { hashOf } from '../../rendering/hashes.ts'
import { encodeSecret, type SecretData } from '../../rendering/secret-data.ts'
import { CONDITIONS } from '../condition-types.ts'
import type { Material } from '../render-input.ts'
import type { ClusterPass } from './pass.ts'

/** Keys of the Secret with the tokens of extensions. */
export const EXTENSION_TOKEN_KEYS = { controller: 'eec.token', datasource: 'datasource.token' } as const

/** The key of the token of KSPM in its Secret. */
export const KSPM_TOKEN_KEY = 'kspm-token'

/** The data of that Secret, as it is stored. */
export const kspmTokenData = (token: string): Record<string, string> => encodeSecret({ [KSPM_TOKEN_KEY]: token })

/** The token that gateways and collectors of node configurations share. */
export function resolveKspm({ draft, view, randomBytes }: ClusterPass): Material {
  const stored = view.secret(namesOf(draft.dynakube).kspmTokenSecret)?.[KSPM_TOKEN_KEY]
  const kspmToken = stored ?? makeToken('dt0n01', randomBytes)
  draft.update({ kspm: { tokenSecretHash: hashOf(kspmTokenData(kspmToken)) } })
  return { kspmToken }
}

/** Tokens and certificate of extensions. */
export async function resolveExtensions(pass: ClusterPass): Promise<Material> {
  const { draft, view, randomBytes } = pass
  const { dynakube } = draft
  const stored = view.secret(namesOf(dynakube).extensionsTokenSecret) ?? {}
  const controller = stored[EXTENSION_TOKEN_KEYS.controller]
  const datasource = stored[EXTENSION_TOKEN_KEYS.datasource]
  const extensionTokens =
    controller && datasource
      ? { controller, datasource }
      : { controller: makeToken('EEC dt0x01', randomBytes), datasource: makeToken('dt0x01', randomBytes) }
  const given = view.secret(extensionControllerTlsSecretName(dynakube))
  if (dynakube.spec.templates?.extensionExecutionController?.tlsRefName) {
    return { extensionTokens, ...(given && { extensionsTlsData: given }) }
  }
  const host = namesOf(dynakube).extensionController
  return {
    extensionTokens,
    extensionsKeyPair: keyPairOf(given) ?? (await certificateFor(pass, CONDITIONS.extensionsTls, host, [])),
  }
}

/** The certificate of gateways. It names the addresses of their Service, so it waits for them. */
export async function resolveActiveGateCertificate(pass: ClusterPass): Promise<Material> {
  const { draft, view } = pass
  const { dynakube } = draft
  const given = view.secret(activeGateTlsSecretName(dynakube))
  if (activeGateTlsSecretName(dynakube) !== automaticTlsSecretName(dynakube)) {
    const certificate = given && certificateOf(given)
    return certificate === undefined ? {} : { activeGateCertificate: certificate }
  }
  const addresses = draft.status.activeGate?.serviceIPs ?? []
  const stored = keyPairOf(given)
  if (stored === undefined && addresses.length === 0) return {}
  const { activeGate } = namesOf(dynakube)
  const pair = stored ?? (await certificateFor(pass, CONDITIONS.activeGateTls, activeGate, addresses))
  return { activeGateKeyPair: pair, activeGateCertificate: pair.certificate }
}

function keyPairOf(data: SecretData | undefined): KeyPair | undefined {
  const { 'tls.crt': certificate, 'tls.key': privateKey } = data ?? {}
  if (!certificate || !privateKey || !isReadable(certificate)) return undefined
  return { certificate, privateKey }
}

function isReadable(certificate: string): boolean {
  try {
    return new X509Certificate(certificate).serialNumber !== ''
  } catch {
    // Somebody wrote something else into the Secret: a new certificate replaces it.
    return false
  }
}

/** Makes a certificate; the condition of the given type tells when that fails. */
async function certificateFor(
  { draft, view, clock, selfSigned, signal }: ClusterPass,
  type: string,
  service: string,
  addresses: readonly string[],
): Promise<KeyPair> {
  const host = `${service}.${view.namespace}`
  const hosts = [host, `${host}.svc`, `${host}.svc.cluster.local`]
  try {
    return await selfSigned({ commonName: host, hosts, addresses }, clock)
  } catch (error) {
    signal.throwIfAborted()
    const why = error instanceof Error ? error.message : String(error)
    draft.set(type, 'False', 'SecretGenerationFailed', `no certificate could be made for ${host}: ${why}`)
    throw error
  }
}
