/** The kubeconfig with which kubectl and Helm connect to the cluster. */

/** The address of the cluster and the credentials. */
export interface KubeconfigOptions {
  readonly url: string
  /** In PEM. */
  readonly authority: string
  readonly clientCertificate: string
  readonly clientKey: string
  /** Name of the cluster, the user and the context. @default 'reeve' */
  readonly name?: string
  /** @default 'default' */
  readonly namespace?: string
}

/** A kubeconfig in YAML with everything inline. */
export function kubeconfig(options: KubeconfigOptions): string {
  const { url, name = 'reeve', namespace = 'default' } = options
  return `apiVersion: v1
kind: Config
clusters:
  - name: ${name}
    cluster:
      server: ${url}
      certificate-authority-data: ${base64(options.authority)}
users:
  - name: ${name}
    user:
      client-certificate-data: ${base64(options.clientCertificate)}
      client-key-data: ${base64(options.clientKey)}
contexts:
  - name: ${name}
    context:
      cluster: ${name}
      user: ${name}
      namespace: ${namespace}
current-context: ${name}
`
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}
