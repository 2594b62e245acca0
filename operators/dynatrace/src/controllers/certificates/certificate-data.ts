/** What the Secret of the webhook's certificates contains, and what must be renewed. */
import {
  type CertificateProfile,
  coversHosts,
  isSignedBy,
  issueAuthority,
  issueServing,
  type KeyUsage,
  type ParsedCertificate,
  parseCertificates,
  readPrivateKey,
} from '@reeve/runtime/certificates'

/** Keys of the Secret. */
export const CERTIFICATE_KEYS = ['ca.key', 'ca.crt', 'ca.crt.old', 'tls.key', 'tls.crt'] as const

/** The texts in the Secret, decoded. */
export type CertificateData = Readonly<Record<(typeof CERTIFICATE_KEYS)[number], string>>

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** How long certificates are valid, and how long before their end they are renewed. */
const CERTIFICATE_TIMES = Object.freeze({
  authorityValidityMs: 365 * DAY_MS,
  servingValidityMs: 7 * DAY_MS,
  renewBeforeMs: 12 * HOUR_MS,
})

/** The outcome of {@link renewCertificates}. */
export interface Renewal {
  /** Whole and valid. */
  readonly data: CertificateData
  /** A new authority always comes with a new serving certificate. */
  readonly renewed: 'authority' | 'serving' | 'nothing'
  /** Whether the previous content of the Secret is still accepted by clients that trust its authorities. */
  readonly wasUsable: boolean
}

/**
 * Renews what is missing, does not parse, does not match or expires soon; keeps the rest.
 *
 * *Guarantee*: the authority before the present one stays in `ca.crt.old`, so that servers which still show a
 * certificate of its making can be trusted.
 */
export async function renewCertificates(
  current: Partial<CertificateData>,
  host: string,
  nowMs: number,
): Promise<Renewal> {
  const authority = pairOf(current['ca.crt'], current['ca.key'])
  const serving = pairOf(current['tls.crt'], current['tls.key'])
  const former = parseFirst(current['ca.crt.old'])
  const trusted = [authority?.certificate, former].filter((certificate) => certificate !== undefined)
  const wasUsable =
    serving !== undefined &&
    serving.certificate.expiresMs > nowMs &&
    trusted.some((one) => one.expiresMs > nowMs && isSignedBy(serving.certificate, one))

  if (authority === undefined || isDue(authority.certificate, nowMs)) {
    const data = await issueAll(host, nowMs, parseFirst(current['ca.crt']))
    return { data, renewed: 'authority', wasUsable }
  }
  const kept = { 'ca.key': authority.key, 'ca.crt': authority.pem, 'ca.crt.old': former?.pem ?? '' }
  const isServingFine =
    serving !== undefined &&
    !isDue(serving.certificate, nowMs) &&
    coversHosts(serving.certificate, [host]) &&
    isSignedBy(serving.certificate, authority.certificate)
  if (isServingFine) {
    return { data: { ...kept, 'tls.key': serving.key, 'tls.crt': serving.pem }, renewed: 'nothing', wasUsable }
  }
  const issuer = { certificate: authority.pem, privateKey: authority.key }
  return { data: { ...kept, ...(await issueServer(issuer, host, nowMs)) }, renewed: 'serving', wasUsable }
}

/** The authorities that the API server has to trust: the present one, then the one before. */
export function trustBundle(data: CertificateData): string {
  return `${data['ca.crt']}${data['ca.crt.old']}`
}

async function issueAll(host: string, nowMs: number, former: ParsedCertificate | undefined): Promise<CertificateData> {
  const validity = { nowMs, validityMs: CERTIFICATE_TIMES.authorityValidityMs }
  const usages: readonly KeyUsage[] = ['keyEncipherment', 'digitalSignature', 'keyCertSign']
  const authority = await issueAuthority(host, validity, { ...profileOf(host, usages), isForServers: true })
  return {
    'ca.key': authority.privateKey,
    'ca.crt': authority.certificate,
    'ca.crt.old': former?.pem ?? '',
    ...(await issueServer(authority, host, nowMs)),
  }
}

async function issueServer(authority: Parameters<typeof issueServing>[0], host: string, nowMs: number) {
  const validity = { nowMs, validityMs: CERTIFICATE_TIMES.servingValidityMs }
  const profile = profileOf(host, ['keyEncipherment', 'digitalSignature'])
  const { certificate, privateKey } = await issueServing(authority, [host], validity, profile)
  return { 'tls.key': privateKey, 'tls.crt': certificate }
}

function profileOf(host: string, keyUsages: readonly KeyUsage[]): CertificateProfile {
  return {
    keyUsages,
    subject: [
      ['C', 'AT'],
      ['ST', 'UA'],
      ['L', 'Linz'],
      ['O', 'Dynatrace'],
      ['OU', 'OneAgent Webhook'],
      ['CN', host],
    ],
  }
}

const isDue = ({ expiresMs }: ParsedCertificate, nowMs: number) => nowMs > expiresMs - CERTIFICATE_TIMES.renewBeforeMs

/** A certificate with the key that belongs to it, from the Secret; undefined if they do not match. */
function pairOf(pem = '', key = '') {
  const certificate = parseFirst(pem)
  try {
    return certificate?.x509.checkPrivateKey(readPrivateKey(key)) ? { certificate, pem, key } : undefined
  } catch {
    // A key that cannot be parsed is replaced, together with its certificate.
    return undefined
  }
}

function parseFirst(pem = ''): ParsedCertificate | undefined {
  try {
    return parseCertificates(pem)[0]
  } catch {
    // What is not a certificate must not get into a bundle: the API server would reject all of it.
    return undefined
  }
}
