/** How one server is reached: its address, what identifies it, and the credentials for it. */

/** A client certificate and its key, both PEM. */
export interface ClientCertificate {
  readonly certificate: string
  readonly key: string
}

/** The credentials of a request. Either or both may be absent. */
export interface Credentials {
  /** Value of the `authorization` header. */
  readonly authorization?: string
  readonly clientCertificate?: ClientCertificate
}

/** A source of credentials, which can renew them when the server rejects them. */
export interface CredentialSource {
  /** The current credentials. Fast unless they have to be read or obtained. */
  get(signal?: AbortSignal): Promise<Credentials>
  /**
   * Called after a 401: obtains new credentials to replace `rejected`. Resolves to `undefined` if there are none, so
   * that the 401 is final.
   */
  renew(rejected: Credentials, signal?: AbortSignal): Promise<Credentials | undefined>
}

/** A text that may change while the process runs, such as a mounted certificate. */
export interface TextSource {
  read(): Promise<string>
}

/** How the server is verified. */
export interface ServerTrust {
  /** PEM bundle. Absent: the authorities that Node.js trusts. */
  readonly certificateAuthority?: TextSource
  /** Name to expect in the server's certificate instead of the host name. */
  readonly serverName?: string
  /** Accept any certificate: for experiments only, the connection can be intercepted. @default false */
  readonly insecureSkipTlsVerify?: boolean
}

/** One server, and the credentials for it. */
export interface ServerConfig {
  /** Address, possibly with a path before that of each request. */
  readonly server: string
  readonly trust: ServerTrust
  readonly credentials?: CredentialSource
  /** `http`, `https` or `socks5` proxy. */
  readonly proxyUrl?: string
}
