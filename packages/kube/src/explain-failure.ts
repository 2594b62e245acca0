/** Sentences for people about failures on the way to an API server: what is wrong, and what to do. */
import { codeOf } from '@reeve/http'
import { ApiError, ConnectionError, CredentialsError, DeadlineExceededError, KubeError } from './errors.ts'

/** How many causes of an error are considered. */
const MAX_DEPTH = 8

const CHECK_AUTHORITY = 'Check certificate-authority in the kubeconfig: it is not the authority of this server'
const CHECK_DNS = 'Check the host name and the DNS of this machine'
const CHECK_ADDRESS = 'Check the address and whether the server runs'
/** What to do about a server that accepts connections and does not respond. */
export const CHECK_SILENCE = 'Check the load of the server, and whether a firewall or proxy drops the connection'
/** What to do about credentials that the server rejects. */
export const CHECK_CREDENTIALS =
  'Check the token or client certificate in the kubeconfig: it may have expired or belong to another cluster'

/** By the code of Node's error, which is the innermost cause. */
const ADVICE: Readonly<Record<string, string>> = {
  ENOTFOUND: CHECK_DNS,
  EAI_AGAIN: CHECK_DNS,
  CERT_HAS_EXPIRED: 'Renew the certificate of the server, or correct the clock of this machine',
  CERT_NOT_YET_VALID: 'Check the clocks of this machine and of the server',
  ERR_TLS_CERT_ALTNAME_INVALID: 'Use an address that the certificate of the server names, or set tls-server-name',
  SELF_SIGNED_CERT_IN_CHAIN: CHECK_AUTHORITY,
  DEPTH_ZERO_SELF_SIGNED_CERT: CHECK_AUTHORITY,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: CHECK_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: CHECK_AUTHORITY,
  CERT_SIGNATURE_FAILURE: CHECK_AUTHORITY,
  ERR_SSL_WRONG_VERSION_NUMBER: 'The server does not speak TLS: check the port, and https in the address',
}

/** What to do about a connection that failed. */
export function connectionAdvice(error: ConnectionError): string {
  if (error.proxy !== undefined) return `Check the proxy ${error.proxy.host}`
  for (const cause of chainOf(error)) {
    const advice = ADVICE[codeOf(cause) ?? '']
    if (advice !== undefined) return advice
  }
  return CHECK_ADDRESS
}

/** What to do about a failure on the way to the API server; `undefined` for all others. */
export function remedyOf(error: unknown): string | undefined {
  const cause = kubeCauseOf(error)
  if (cause instanceof ConnectionError) return connectionAdvice(cause)
  if (cause instanceof DeadlineExceededError) return remedyOf(cause.cause) ?? CHECK_SILENCE
  if (cause instanceof CredentialsError) return CHECK_CREDENTIALS
  if (!(cause instanceof ApiError)) return undefined
  if (cause.status === 401) return CHECK_CREDENTIALS
  return cause.status === 403 ? 'Grant the account this permission, or use another account' : undefined
}

/**
 * One sentence about a failure, with what to do about it if the API server is involved. Any error has one.
 *
 * @example
 * explainFailure(error)
 * // 'cannot reach the API server https://127.0.0.1:6443: list pods: connect ECONNREFUSED 127.0.0.1:6443. Check …'
 */
export function explainFailure(error: unknown): string {
  const message = error instanceof Error ? error.message || error.name : String(error)
  const remedy = remedyOf(error)
  return remedy === undefined ? message : `${subjectOf(kubeCauseOf(error))}${message}. ${remedy}.`
}

function subjectOf(cause: KubeError | undefined): string {
  if (cause instanceof ConnectionError) return `cannot reach ${serverOf(cause)}: `
  if (cause instanceof DeadlineExceededError) return `${serverOf(cause)} does not respond in time: `
  if (cause instanceof CredentialsError) return 'cannot authenticate: '
  return cause instanceof ApiError && cause.status === 401 ? 'the API server rejects the credentials: ' : ''
}

function serverOf({ server }: ConnectionError | DeadlineExceededError): string {
  return server === undefined ? 'the API server' : `the API server ${server}`
}

function kubeCauseOf(error: unknown): KubeError | undefined {
  return chainOf(error).find((cause) => cause instanceof KubeError)
}

/**
 * Whether a failure comes from the environment, such as a server that does not run or a port that is in use. The sentence
 * of {@link explainFailure} says everything about it; a stack would only hide it.
 */
export function isEnvironmentFailure(error: unknown): boolean {
  const code = codeOf(chainOf(error).at(-1))
  return kubeCauseOf(error) !== undefined || (code !== undefined && !code.startsWith('ERR_'))
}

/** The innermost message: the outer ones name the request. */
export function rootMessage(error: Error): string {
  const innermost = chainOf(error).at(-1)
  return (innermost instanceof Error && innermost.message) || error.message
}

/** The error and its causes. Node combines the attempts on several addresses in an error without a message. */
function chainOf(error: unknown): readonly unknown[] {
  const chain: unknown[] = []
  let current = error
  while (current instanceof Error && chain.length < MAX_DEPTH) {
    chain.push(current)
    current = current.cause ?? (current instanceof AggregateError ? current.errors[0] : undefined)
  }
  return chain.length === 0 ? [error] : chain
}
