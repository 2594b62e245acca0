/** Files that the operator replicates into namespaces as keys of Secrets and the bootstrapper reads. */

/** Keys of the two replicated Secrets, which are the file names below the input directory. */
export const INPUT_FILES = Object.freeze({
  /** JSON: how to reach the tenant. Only downloads need it. */
  clientConfig: 'dtclient.config',
  /** JSON: settings that override those shipped with the agent. */
  processModuleConfig: 'ruxitagentproc.json',
  /** Milliseconds during which agents retry their first connection. */
  initialConnectRetry: 'initial-connect-retry',
  /** Where applications send their own metrics. */
  endpoint: 'endpoint.properties',
  /** PEM: additional certificate authorities of the user. */
  trustedCertificates: 'trusted.pem',
  /** PEM: the certificate of the ActiveGate. */
  activeGateCertificate: 'activegate.pem',
})
