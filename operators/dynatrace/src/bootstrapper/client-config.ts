/** `dtclient.config`: how an init container reaches the tenant. */
import { INPUT_FILES } from '../injection-contract/input-files.ts'
import { inputError } from './bootstrap-error.ts'
import { readInput } from './input-files.ts'

/** The connection to a tenant. */
export interface ClientConfig {
  /** Ends in `/api`. */
  readonly url: URL
  readonly token: string
  /** Empty for none. */
  readonly proxy: string
  readonly noProxy: string
  readonly skipsCertificateCheck: boolean
  /** PEM, in addition to the authorities that Node.js trusts. */
  readonly trustedCertificates?: string
}

/**
 * Reads the configuration.
 *
 * *Errors*: `BOOTSTRAP_INPUT` if it is missing or malformed. The message repeats nothing of the content.
 */
export function readClientConfig(inputDirectory: string): ClientConfig {
  const name = INPUT_FILES.clientConfig
  const text = readInput(inputDirectory, name)
  if (text === undefined) throw inputError(`${name} does not exist: the Secret of the operator is incomplete`)
  const fields = parse(text)
  const field = (key: string) => (typeof fields[key] === 'string' ? fields[key] : '')
  const url = URL.parse(field('url'))
  if (url === null || !/^https?:$/.test(url.protocol)) throw inputError(`${name}: url is not a valid URL`)
  const trustedCertificates = readInput(inputDirectory, INPUT_FILES.trustedCertificates)
  return {
    url,
    token: field('apiToken'),
    proxy: field('proxy'),
    noProxy: field('noProxy'),
    skipsCertificateCheck: fields.skipCertCheck === true,
    ...(trustedCertificates && { trustedCertificates }),
  }
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null) return { ...value }
  } catch {
    // The message of the parser would quote the token.
  }
  throw inputError(`${INPUT_FILES.clientConfig} is not a JSON object`)
}
