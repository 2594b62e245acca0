/** Translates Node's network errors into the messages of the API server, which people search for. */

/** The message for a failed connection. */
export function explainTransportError(error: unknown): string {
  const { code, message, address, port, hostname, host, alternativeNames } = facts(error)
  switch (code) {
    case 'ECONNREFUSED':
      return `dial tcp ${address}:${port}: connect: connection refused`
    case 'EHOSTUNREACH':
      return `dial tcp ${address}:${port}: connect: no route to host`
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `dial tcp: lookup ${hostname}: no such host`
    case 'ECONNRESET':
    case 'EPIPE':
    case 'UND_ERR_SOCKET':
      return 'EOF'
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'CERT_SIGNATURE_FAILURE':
      return 'tls: failed to verify certificate: x509: certificate signed by unknown authority'
    case 'CERT_HAS_EXPIRED':
    case 'CERT_NOT_YET_VALID':
      return 'tls: failed to verify certificate: x509: certificate has expired or is not yet valid'
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `tls: failed to verify certificate: x509: certificate is valid for ${alternativeNames}, not ${host}`
    default:
      return message
  }
}

interface Facts {
  readonly code: string
  readonly message: string
  readonly address: string
  readonly port: string
  /** For a failed name lookup. */
  readonly hostname: string
  /** For a certificate with other names, listed in `alternativeNames`. */
  readonly host: string
  readonly alternativeNames: string
}

/** Node wraps several attempts (IPv4 and IPv6) in one AggregateError; the first is sufficient. */
function facts(error: unknown): Facts {
  const first = error instanceof AggregateError ? error.errors[0] : error
  const fields: Record<string, unknown> = typeof first === 'object' && first !== null ? { ...first } : {}
  const text = (name: string) => (fields[name] === undefined ? '' : String(fields[name]))
  return {
    code: text('code'),
    message: first instanceof Error ? first.message : String(first),
    address: text('address'),
    port: text('port'),
    hostname: text('hostname'),
    host: text('host'),
    alternativeNames: subjectAlternativeNames(fields.cert),
  }
}

/** Node writes `DNS:a, IP Address:b`; the API server leaves the types out. */
function subjectAlternativeNames(certificate: unknown): string {
  if (typeof certificate !== 'object' || certificate === null || !('subjectaltname' in certificate)) return 'no name'
  return String(certificate.subjectaltname).replaceAll(/(?:DNS|IP Address):/g, '')
}
