/** Everything needed to reach one API server as somebody. */
import type { Impersonation } from '../impersonation.ts'

/** A client certificate and its key, both PEM. */
export interface ClientCertificate {
  readonly certificate: string
  readonly key: string
}

/** What a request is sent with. Either or both may be absent. */
export interface Credentials {
  /** Value of the `authorization` header. */
  readonly authorization?: string
  readonly clientCertificate?: ClientCertificate
}

/** Where credentials come from, and where better ones come from when the server refuses them. */
export interface CredentialSource {
  /** The credentials to use now. Quick unless they have to be read or obtained. */
  get(signal?: AbortSignal): Promise<Credentials>
  /**
   * Called after a 401: obtains new credentials in place of `rejected`. Resolves with `undefined` when there are no
   * others, so that the refusal is final.
   */
  renew(rejected: Credentials, signal?: AbortSignal): Promise<Credentials | undefined>
}

/** A text that may change while the process runs, such as a mounted certificate. */
export interface TextSource {
  read(): Promise<string>
}

/** How the server proves who it is. */
export interface ServerTrust {
  /** PEM bundle. Absent: the authorities that Node.js trusts. */
  readonly certificateAuthority?: TextSource
  /** Name to expect in the server's certificate instead of the host name. */
  readonly serverName?: string
  /** Accept any certificate: for experiments only, the connection can be intercepted. @default false */
  readonly insecureSkipTlsVerify?: boolean
}

/**
 * One API server, and who we are to it.
 *
 * @example
 * const config: ClusterConfig = { server: 'https://127.0.0.1:6443', source: 'test', namespace: 'default', trust: {} }
 */
export interface ClusterConfig {
  /** Address, possibly with a path before `/api`. */
  readonly server: string
  /** Where this configuration came from, for messages. */
  readonly source: string
  /** Namespace of the context, or of the pod we run in. */
  readonly namespace: string
  readonly trust: ServerTrust
  readonly credentials?: CredentialSource
  /** `http`, `https` or `socks5` proxy. */
  readonly proxyUrl?: string
  readonly impersonate?: Impersonation
}
